#include <fmt/format.h>

#include <memory>

#include "buoy/app/cluster/fleet.h"
#include "buoy/app/commands/commands.h"
#include "buoy/app/options/change_options.h"
#include "buoy/app/options/flags.h"
#include "buoy/app/options/model_folder.h"
#include "buoy/app/options/request_flags.h"
#include "buoy/app/options/retrieval.h"
#include "buoy/app/options/shard_options.h"
#include "buoy/app/options/shared_options.h"
#include "buoy/base/error.h"
#include "buoy/base/file/named_path.h"
#include "buoy/base/interrupt.h"
#include "buoy/base/say.h"
#include "buoy/base/stopwatch.h"
#include "buoy/checkpoint/hub_cache.h"
#include "buoy/run/evaluation.h"
#include "buoy/run/identity.h"
#include "buoy/study/evaluation_runner.h"

namespace buoy::app {
namespace {

struct EvalOptions {
  run::EvaluationSpec spec;  // what is not a request
  RequestFlags flags;
  std::vector<std::string> models, data;
  std::int64_t noise = -1;
  bool closed_book = false, published = false, resume = false, timing = false;
  std::string sweep, noise_kind = "random", out, hide_top_of, hide_control;
  RetrievalOptions retrieval;
  std::vector<std::string> heads_from, columns_from;
  run::HeadStudy heads;
  int threads = 0;
  std::string device = "auto";
  std::int64_t resamples = 2000;
  ShardOptions shards;
};

// MODEL=TRACE for every model.
run::TraceOfModel traces_of_models(const std::string& option, const std::vector<std::string>& given,
                                   const run::EvaluationSpec& spec) {
  run::TraceOfModel traces;
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

void require_own_traces(const run::EvaluationSpec& spec, const run::TraceOfModel& traces) {
  for (const auto& model : spec.models) {
    if (const auto own = traces.find(model.name); own != traces.end())
      run::require_trace_of(own->second, model.path);
  }
}

std::vector<run::Condition> conditions(const EvalOptions& options, const run::EvaluationSpec& spec) {
  run::ConditionRequest request;
  static_cast<run::Arrangement&>(request.base) = spec.arrangement;
  request.base.noise_kind = questions::noise_from_name(options.noise_kind);
  if (options.noise >= 0) request.base.noise = static_cast<std::size_t>(options.noise);
  request.sweep = options.sweep;
  request.hide_top_of = options.hide_top_of;
  request.hide_control = options.hide_control;
  request.closed_book = options.closed_book;
  if (!options.heads_from.empty()) {
    request.heads = options.heads;
    request.heads->traces = traces_of_models("--heads-from", options.heads_from, spec);
  }
  if (!options.columns_from.empty())
    request.columns = traces_of_models("--columns-from", options.columns_from, spec);
  request.with_passages = spec.arrangement.passages >= 0 || !options.sweep.empty() || request.base.noise ||
                          request.base.gold_position > 0 || !options.retrieval.index.empty() ||
                          request.heads || !request.columns.empty();
  if (!request.with_passages && !request.closed_book &&
      !run::has_passages(spec.data.front().path, spec.read)) {
    say("{} has no passages: asking closed book\n", spec.data.front().path.string());
    request.closed_book = true;
  }
  auto made = run::make_conditions(request);
  if (request.heads) require_own_traces(spec, request.heads->traces);
  require_own_traces(spec, request.columns);
  for (const auto& [model, trace] : request.columns) run::ColumnBook{trace};  // refused now, not per question
  return made;
}

// A model by its name or folder; a snapshot of a cache is called as its id ends, not by its commit.
NamedPath named_model(const std::string& text) {
  auto model = parse_named(text);
  model.path = find_model(model.path.string());
  if (const auto snapshot = hub_snapshot_of(model.path); snapshot && model.name == snapshot->commit)
    model.name = snapshot->id.substr(snapshot->id.find('/') + 1);
  return model;
}

run::EvaluationSpec make_spec(const EvalOptions& options) {
  run::EvaluationSpec spec = options.spec;
  static_cast<run::Request&>(spec) = read_request(options.flags);
  for (const auto& model : options.models) spec.models.push_back(named_model(model));
  for (const auto& model : spec.models)
    settle_chat(options.flags.chat, model.path);  // refuses before any work
  for (const auto& data : options.data) spec.data.push_back(parse_named(data));
  if (options.published) spec.normalisation = questions::Normalisation::kPublished;
  spec.device = device_from_name(options.device);
  spec.threads = options.threads > 0 ? options.threads : default_threads();
  spec.data = with_retrieved_passages(options.retrieval, spec.data, spec.read, options.out);
  spec.conditions = conditions(options, spec);
  return spec;
}

// What can be refused before anything is read or loaded.
void check(const EvalOptions& options) {
  constexpr std::int64_t kFewest = 100;  // an interval of fewer is noise
  if (options.resamples < kFewest)
    throw_usage_error(
        {"--resamples", fmt::format("at least {}", kFewest), std::to_string(options.resamples)});
  for (const auto& data : options.data) {
    if (parse_named(data).path == "-")
      throw_usage_error({"--data", "a file: questions are read once for every model", "standard input"});
  }
}

void ask_part(const run::EvaluationSpec& spec, const run::Sharding& sharding, Stopwatch& clock) {
  RunProgress bar(sharding, "answer");
  run::EvaluationProgress progress;
  progress.begin = [](std::size_t) {};
  progress.part = [&](std::size_t answers, std::size_t kept) { bar.begin(answers, kept); };
  progress.step = [&] { bar.step(); };
  progress.note = [](const std::string& text) { say("note: {}\n", text); };
  progress.clock = &clock;
  run::EvaluationResult result;
  bar.run([&] {
    result = run::run_evaluation_part(spec, sharding, progress);
    bar.failed(result.failed, result.last_error);
  });
  fmt::print("{}: asked {} in {} (buoy merge {} makes the tables)\n", sharding.folder().string(),
             result.asked, describe_duration(result.seconds), sharding.out.string());
}

void evaluate_models(EvalOptions options) {
  check(options);
  if (auto& passages = options.flags.request.arrangement.passages; passages == 0) {
    options.closed_book = true;
    passages = -1;
  }
  say_when_interrupted("buoy: interrupted; the same command with --resume goes on behind the last answer\n");
  Stopwatch clock;
  const PartedCommand parted{"eval", options.out, options.resamples, options.flags.request.decode.seed};
  if (wants_processes(options.shards, options.device))
    return run_processes(options.shards, options.device, parted);
  const auto sharding = place_in_run(options.shards, parted);
  if (sharding) {
    ask_part(make_spec(options), *sharding, clock);
  } else {
    study::run_and_summarise({make_spec(options), options.out, options.resume, options.resamples, &clock});
  }
  if (options.timing) say("{}\n", clock.describe());
}

}  // namespace

void add_eval(Command& app) {
  auto* command = app.add_subcommand("eval", "ask questions with and without passages and score the answers");
  auto o = std::make_shared<EvalOptions>();
  auto& request = o->flags.request;
  request = o->spec;  // with the defaults of evaluations
  request.decode.max_new_tokens = 32;
  add_model_option(*command, o->models)->required();
  add_data_option(*command, o->data)->required();
  add_out_option(*command, o->out)->required();
  add_resume_flag(*command, o->resume);
  add_limit_option(*command, o->flags.limit);
  const std::string asking = "What is asked";
  add_passages_option(*command, request.arrangement.passages)->group(asking);
  command
      ->add_flag("--closed-book", o->closed_book,
                 "without passages; together with --passages or a sweep: both, and what passages add")
      ->group(asking);
  command
      ->add_option("--sweep", o->sweep, "one condition for each value, as in gold-position=1-10; see below")
      ->type_name("AXIS=VALUES")
      ->group(asking);
  add_gold_position_option(*command, request.arrangement.gold_position)->group(asking);
  command->add_option("--noise", o->noise, "this many noise passages instead of the item's own")
      ->nonnegative()
      ->group(asking);
  const auto* kind = add_noise_kind_option(*command, o->noise_kind, questions::noise_names())->group(asking);
  command
      ->add_flag("--gold-by-answer", request.arrangement.gold_by_answer,
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
  add_top_of_option(*command, o->hide_top_of)->group(asking);
  add_hide_control_option(*command, o->hide_control)->group(asking);
  o->flags.fields = add_field_option(*command);
  add_retrieval_options(*command, o->retrieval, asking);
  const std::string prompting = "Prompts and answers";
  add_template_option(*command, request.prompt_template)->alias("--prompt")->group(prompting);
  command
      ->add_option("--closed-book-template", o->spec.closed_book_prompt,
                   "template without passages (default: the one that belongs to --template)")
      ->alias("--closed-book-prompt")
      ->type_name("NAME|FILE")
      ->group(prompting);
  add_chat_options(*command, o->flags.chat, prompting);
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
  add_observe_option(*command, request.observe);
  command
      ->add_option("--batch-tokens", o->spec.batch.token_budget,
                   "tokens of one packed forward (default 1024; 1: one question at a time)")
      ->positive();
  add_device_option(*command, o->device);
  add_threads_option(*command, o->threads);
  add_timing_flag(*command, o->timing);
  add_shard_options(*command, o->shards);
  add_resamples_option(*command, o->resamples)->alias("--replicates");
  add_decode_options(*command, request.decode);
  command->footer(in_flags_of(*command, run::describe_sweeps()) + "docs/evaluation.md says what is written.");
  command->examples({
      {"buoy eval --model models/planted-diffusion --model models/planted-autoregressive --data "
       "questions.jsonl "
       "--template models/planted.prompt --passages 3 --closed-book --max-new-tokens 12 --out runs/pair",
       ""},
      {"buoy eval --model LLaDA-8B-Instruct --model Llama-3.1-8B-Instruct --data nq.jsonl.gz --passages 5 "
       "--closed-book --out runs/nq",
       ""},
  });
  command->callback([o, kind] {
    if (kind->given() && o->noise < 0 && !o->sweep.starts_with("noise="))
      throw_usage_error(
          {"--noise-kind", "--noise N or --sweep noise=..., how many passages of it", "neither"});
    evaluate_models(*o);
  });
}

}  // namespace buoy::app
