#include <fmt/format.h>

#include <memory>

#include "app/commands.h"
#include "app/data_options.h"
#include "app/decode_options.h"
#include "app/evaluation_runner.h"
#include "app/model_folder.h"
#include "app/retrieval.h"
#include "base/error.h"
#include "checkpoint/hub_cache.h"
#include "experiment/attention_features.h"
#include "experiment/evaluation.h"
#include "experiment/identity.h"

namespace buoy::app {
namespace {

struct EvalOptions {
  experiment::EvaluationSpec spec;
  std::vector<std::string> models, data;
  std::shared_ptr<std::vector<std::string>> fields;
  experiment::Condition base;
  std::int64_t passages = -1, limit = 0, noise = -1;
  bool closed_book = false, chat = false, no_chat = false, published = false, resume = false;
  std::string sweep, noise_kind = "random", out, observe;
  RetrievalOptions retrieval;
  std::vector<std::string> heads_from, columns_from;
  experiment::HeadStudy heads;
  int threads = 0;
  std::string device = "auto";
  std::size_t resamples = 2000;
};

// MODEL=TRACE for every model.
experiment::TraceOfModel traces_of_models(const std::string& option, const std::vector<std::string>& given,
                                          const experiment::EvaluationSpec& spec) {
  experiment::TraceOfModel traces;
  for (const auto& text : given) {
    const auto trace = parse_named(text);
    traces[trace.name] = trace.path;
  }
  for (const auto& model : spec.models) {
    if (!traces.contains(model.name))
      throw_usage_error({option, fmt::format("a trace for every model, as in {}=TRACE", model.name), "none"});
  }
  return traces;
}

void require_own_traces(const experiment::EvaluationSpec& spec, const experiment::TraceOfModel& traces) {
  for (const auto& model : spec.models) {
    if (const auto own = traces.find(model.name); own != traces.end())
      experiment::require_trace_of(own->second, model.path);
  }
}

std::vector<experiment::Condition> conditions(const EvalOptions& options,
                                              const experiment::EvaluationSpec& spec) {
  experiment::ConditionRequest request;
  request.base = options.base;
  request.base.passages = options.passages;
  request.base.noise_kind = evaluate::noise_from_name(options.noise_kind);
  if (options.noise >= 0) request.base.noise = static_cast<std::size_t>(options.noise);
  request.sweep = options.sweep;
  request.closed_book = options.closed_book;
  if (!options.heads_from.empty()) {
    request.heads = options.heads;
    request.heads->traces = traces_of_models("--heads-from", options.heads_from, spec);
  }
  if (!options.columns_from.empty())
    request.columns = traces_of_models("--columns-from", options.columns_from, spec);
  request.with_passages = options.passages >= 0 || !options.sweep.empty() || request.base.noise ||
                          request.base.gold_position > 0 || !options.retrieval.index.empty() ||
                          request.heads || !request.columns.empty();
  if (!request.with_passages && !request.closed_book &&
      !experiment::has_passages(spec.data.front().path, spec.read)) {
    fmt::print(stderr, "{} has no passages: asking closed book\n", spec.data.front().path.string());
    request.closed_book = true;
  }
  auto made = experiment::make_conditions(request);
  if (request.heads) require_own_traces(spec, request.heads->traces);
  require_own_traces(spec, request.columns);
  return made;
}

// A model by its name or folder; a snapshot of a cache is called as its id ends, not by its commit.
experiment::Named named_model(const std::string& text) {
  auto model = parse_named(text);
  model.path = find_model(model.path.string());
  if (const auto snapshot = hub_snapshot_of(model.path); snapshot && model.name == snapshot->commit)
    model.name = snapshot->id.substr(snapshot->id.find('/') + 1);
  return model;
}

experiment::EvaluationSpec make_spec(const EvalOptions& options) {
  experiment::EvaluationSpec spec = options.spec;
  for (const auto& model : options.models) spec.models.push_back(named_model(model));
  for (const auto& data : options.data) spec.data.push_back(parse_named(data));
  spec.read.fields = parse_fields(*options.fields);
  if (options.limit > 0) spec.read.limit = static_cast<std::size_t>(options.limit);
  if (options.chat && options.no_chat) throw_usage_error({"chat", "--chat or --no-chat", "both"});
  if (options.chat) spec.chat_use = experiment::ChatUse::kAlways;
  if (options.no_chat) spec.chat_use = experiment::ChatUse::kNever;
  if (options.published) spec.normalisation = evaluate::Normalisation::kPublished;
  if (spec.decode.max_new_tokens < 1)
    throw_usage_error({"--max-new-tokens", "at least 1", std::to_string(spec.decode.max_new_tokens)});
  spec.device = device_from_name(options.device);
  spec.threads = options.threads > 0 ? options.threads : available_threads();
  spec.observe = options.observe == "features" ? experiment::kFeatureObservables : options.observe;
  spec.data = with_retrieved_passages(options.retrieval, spec.data, spec.read, options.out);
  spec.conditions = conditions(options, spec);
  return spec;
}

void evaluate_models(const EvalOptions& options) {
  run_and_summarise({make_spec(options), options.out, options.resume, options.resamples});
}

}  // namespace

void add_eval(Command& app) {
  auto* command = app.add_subcommand("eval", "ask questions with and without passages and score the answers");
  auto o = std::make_shared<EvalOptions>();
  o->spec.decode.max_new_tokens = 32;
  command->add_option("--model", o->models, "folder or id of a model, or NAME=folder; several may be given")
      ->required()
      ->type_name("MODEL");
  command
      ->add_option("--data", o->data,
                   "questions, JSON Lines, plain or gzip, or NAME=file; several may be given")
      ->required()
      ->type_name("F.jsonl");
  command->add_option("--out", o->out, "folder of the run")->required()->type_name("DIR");
  command->add_flag("--resume", o->resume, "continue a run that was interrupted");
  command->add_option("--limit", o->limit, "only the first N questions of each set")->positive();
  const std::string asking = "What is asked";
  command->add_option("--passages", o->passages, "at most this many passages per question (default: all)")
      ->positive()
      ->group(asking);
  command
      ->add_flag("--closed-book", o->closed_book,
                 "without passages; together with --passages or a sweep: both, and what passages add")
      ->group(asking);
  command
      ->add_option("--sweep", o->sweep, "one condition for each value, as in gold-position=1-10; see below")
      ->type_name("AXIS=VALUES")
      ->group(asking);
  command->add_option("--gold-position", o->base.gold_position, "move the gold passage to this place, from 1")
      ->positive()
      ->group(asking);
  command->add_option("--noise", o->noise, "this many noise passages instead of the item's own")
      ->nonnegative()
      ->group(asking);
  const auto* kind =
      command->add_option("--noise-kind", o->noise_kind, "what noise is made of (default random)")
          ->one_of(evaluate::noise_names())
          ->group(asking);
  command
      ->add_flag("--gold-by-answer", o->base.gold_by_answer,
                 "where the data marks no gold passage, those that hold an answer are")
      ->group(asking);
  auto* heads = command
                    ->add_option("--heads-from", o->heads_from,
                                 "switch heads off: the best retrieval heads of this trace of the model, and "
                                 "as many drawn ones")
                    ->type_name("MODEL=TRACE")
                    ->group(asking);
  command->add_option("--heads-share", o->heads.share, "share of all heads to switch off (default 0.05)")
      ->needs(heads)
      ->group(asking);
  command->add_option("--heads-controls", o->heads.controls, "times that others are drawn (default 5)")
      ->nonnegative()
      ->needs(heads)
      ->group(asking);
  command
      ->add_option(
          "--columns-from", o->columns_from,
          "hide columns of attention: in each third of the depth the floating ones that this trace of "
          "the same questions tells of, and as many random and structural ones")
      ->type_name("MODEL=TRACE")
      ->group(asking);
  o->fields = add_field_option(*command);
  add_retrieval_options(*command, o->retrieval, asking);
  const std::string prompting = "Prompts and answers";
  command
      ->add_option("--prompt", o->spec.prompt,
                   "template: a built-in name or a file (default shared-passages)")
      ->type_name("NAME|FILE")
      ->group(prompting);
  command
      ->add_option("--closed-book-prompt", o->spec.closed_book_prompt,
                   "template without passages (default: the one that belongs to --prompt)")
      ->type_name("NAME|FILE")
      ->group(prompting);
  command->add_flag("--chat", o->chat, "always use the chat template (default: where the folder has one)")
      ->group(prompting);
  auto* no_chat = command->add_flag("--no-chat", o->no_chat, "never use it")->group(prompting);
  command->add_option("--system", o->spec.chat.system, "system message")->excludes(no_chat)->group(prompting);
  command
      ->add_option("--chat-style", o->spec.chat.style,
                   "style written by hand instead of the folder's template (docs/chat-templates.md)")
      ->type_name("NAME")
      ->excludes(no_chat)
      ->group(prompting);
  command
      ->add_flag("--no-thinking", o->spec.chat.no_thinking,
                 "tell the template not to think (enable_thinking)")
      ->excludes(no_chat)
      ->group(prompting);
  command->add_option("--chat-date", o->spec.chat.date, "day that templates are told (default: 2024-07-26)")
      ->type_name("YYYY-MM-DD")
      ->excludes(no_chat)
      ->group(prompting);
  command
      ->add_flag("--keep-text-after-end", o->spec.keep_text_after_end,
                 "the authors' rule for LLaDA: keep what stands behind an end marker")
      ->group(prompting);
  command->add_flag("--first-line", o->spec.first_line_only, "the answer is its first line")
      ->group(prompting);
  command
      ->add_flag("--published-normalisation", o->published,
                 "compare answers exactly as the authors do (ASCII punctuation only)")
      ->group(prompting);
  command
      ->add_option(
          "--observe", o->observe,
          "also trace attention and relate it to right and wrong; `features` or a list as in buoy trace")
      ->type_name("LIST");
  command
      ->add_option("--batch-tokens", o->spec.batch.token_budget,
                   "tokens of one packed forward (default 1024; 1: one question at a time)")
      ->positive();
  add_device_option(*command, o->device);
  command->add_option("--threads", o->threads, "threads to use (default: all cores)")->range(0, 4096);
  command->add_option("--resamples", o->resamples, "of the bootstrap (default 2000)")->positive();
  add_decode_options(*command, o->spec.decode);
  command->footer(
      experiment::describe_sweeps() +
      "Example: buoy eval --model LLaDA-8B-Instruct --model Llama-3.1-8B-Instruct --data nq.jsonl.gz\n"
      "         --passages 5 --closed-book --out runs/nq; docs/evaluation.md says what is written.");
  command->callback([o, kind] {
    if (kind->given() && o->noise < 0 && !o->sweep.starts_with("noise="))
      throw_usage_error(
          {"--noise-kind", "--noise N or --sweep noise=..., how many passages of it", "neither"});
    evaluate_models(*o);
  });
}

}  // namespace buoy::app
