#include <fmt/format.h>

#include <memory>
#include <optional>

#include "app/commands.h"
#include "app/data_options.h"
#include "app/decode_options.h"
#include "app/model_folder.h"
#include "app/retrieval.h"
#include "base/error.h"
#include "base/progress.h"
#include "experiment/attention_features.h"
#include "experiment/evaluation.h"
#include "experiment/summary.h"
#include "report/result_files.h"

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
  int threads = 0;
  std::size_t resamples = 2000;
};

// With passages, without, or both; a sweep in place of the one with passages.
std::vector<experiment::Condition> conditions(const EvalOptions& options,
                                              const experiment::EvaluationSpec& spec) {
  experiment::Condition base = options.base;
  base.passages = options.passages;
  base.noise_kind = evaluate::noise_from_name(options.noise_kind);
  if (options.noise >= 0) base.noise = static_cast<std::size_t>(options.noise);
  std::vector<experiment::Condition> all;
  const bool asked = options.passages >= 0 || !options.sweep.empty() || base.noise ||
                     base.gold_position > 0 || !options.retrieval.index.empty();
  bool closed = options.closed_book;
  if (!asked && !closed && !experiment::has_passages(spec.data.front().path, spec.read)) {
    fmt::print(stderr, "{} has no passages: asking closed book\n", spec.data.front().path.string());
    closed = true;
  }
  if (closed) {
    experiment::Condition condition;
    condition.name = "closed-book";
    condition.closed_book = true;
    all.push_back(condition);
  }
  if (!options.sweep.empty()) {
    for (auto& condition : experiment::sweep(options.sweep, base)) all.push_back(std::move(condition));
  } else if (asked || !closed) {
    if (base.passages == 0) throw_usage_error({"--passages", "1 or more (or --closed-book)", "0"});
    all.push_back(base);
  }
  for (const auto& condition : all) {
    if (condition.axis == "noise-kind" && !condition.noise)
      throw_usage_error({"--sweep noise-kind", "--noise N, how many passages of it", "no --noise"});
  }
  return all;
}

experiment::EvaluationSpec make_spec(const EvalOptions& options) {
  experiment::EvaluationSpec spec = options.spec;
  for (const auto& model : options.models) spec.models.push_back(parse_named(model));
  for (const auto& data : options.data) spec.data.push_back(parse_named(data));
  spec.read.fields = parse_fields(*options.fields);
  if (options.limit > 0) spec.read.limit = static_cast<std::size_t>(options.limit);
  if (options.chat && options.no_chat) throw_usage_error({"chat", "--chat or --no-chat", "both"});
  if (options.chat) spec.chat_use = experiment::ChatUse::kAlways;
  if (options.no_chat) spec.chat_use = experiment::ChatUse::kNever;
  if (options.published) spec.normalisation = evaluate::Normalisation::kPublished;
  if (spec.decode.max_new_tokens < 1)
    throw_usage_error({"--max-new-tokens", "at least 1", std::to_string(spec.decode.max_new_tokens)});
  spec.threads = thread_count({"", options.threads});
  spec.observe = options.observe == "features" ? experiment::kFeatureObservables : options.observe;
  spec.data = with_retrieved_passages(options.retrieval, spec.data, spec.read, options.out);
  spec.conditions = conditions(options, spec);
  return spec;
}

void print_tables(const std::vector<Table>& tables) {
  fmt::print("{}\n", to_text(experiment::overview(tables)));
  for (const auto& table : tables) {
    if (table.name != "eval_gain_ratio" && table.name != "eval_averages") continue;
    fmt::print("{}\n{}\n", table.title, to_text(table));
  }
}

void evaluate_models(const EvalOptions& options) {
  const auto spec = make_spec(options);
  std::optional<Progress> bar;
  experiment::EvaluationProgress progress;
  progress.begin = [&](std::size_t answers) {
    bar.emplace(stderr, "answer", static_cast<std::int64_t>(answers));
  };
  progress.step = [&] { bar->advance(); };
  progress.note = [](const std::string& text) { fmt::print(stderr, "note: {}\n", text); };
  const auto result = experiment::run_evaluation(spec, options.out, options.resume, progress);
  bar.reset();

  const auto book = experiment::read_scores(options.out);
  const auto tables =
      experiment::summarise(book, {.resamples = options.resamples, .level = 0.95, .seed = spec.decode.seed});
  experiment::write_summary(tables, options.out);
  const auto written = report::write_results("evaluation", tables, options.out);
  print_tables(tables);
  fmt::print("{}: {} answers, {} tables, {} figures; asked {} in {} ({:.2f} per second)\n", options.out,
             result.answers, written.tables, written.figures, result.asked, describe_duration(result.seconds),
             result.seconds > 0 ? static_cast<double>(result.asked) / result.seconds : 0);
  for (const auto& cell : book.cells) {
    if (cell.answers.empty())
      throw InputError(fmt::format("{}: every item of {}, {}, {} failed; the first: {}", options.out,
                                   cell.model, cell.set, cell.condition, cell.failures.front().error));
  }
}

}  // namespace

void add_eval(CLI::App& app) {
  auto* command = app.add_subcommand("eval", "ask questions with and without passages and score the answers");
  auto o = std::make_shared<EvalOptions>();
  o->spec.decode.max_new_tokens = 32;
  command->add_option("--model", o->models, "Hugging Face folder, or NAME=folder; several may be given")
      ->required()
      ->type_name("DIR");
  command
      ->add_option("--data", o->data,
                   "questions, JSON Lines, plain or gzip, or NAME=file; several may be given")
      ->required()
      ->type_name("F.jsonl");
  command->add_option("--out", o->out, "folder of the run")->required()->type_name("DIR");
  command->add_flag("--resume", o->resume, "continue a run that was interrupted");
  command->add_option("--limit", o->limit, "only the first N questions of each set")
      ->check(CLI::PositiveNumber);
  const std::string asking = "What is asked";
  command->add_option("--passages", o->passages, "at most this many passages per question (default: all)")
      ->check(CLI::PositiveNumber)
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
      ->check(CLI::PositiveNumber)
      ->group(asking);
  command->add_option("--noise", o->noise, "this many noise passages instead of the item's own")
      ->check(CLI::NonNegativeNumber)
      ->group(asking);
  command->add_option("--noise-kind", o->noise_kind, "what noise is made of (default random)")
      ->check(CLI::IsMember(evaluate::noise_names()))
      ->group(asking);
  command
      ->add_flag("--gold-by-answer", o->base.gold_by_answer,
                 "where the data marks no gold passage, those that hold an answer are")
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
  command->add_flag("--no-chat", o->no_chat, "never use it")->group(prompting);
  command->add_option("--system", o->spec.chat.system, "system message")->group(prompting);
  command->add_option("--chat-style", o->spec.chat.style, "chat template to use instead of the detected one")
      ->type_name("NAME")
      ->group(prompting);
  command
      ->add_flag("--no-thinking", o->spec.chat.no_thinking, "Qwen3: close the thinking part before it begins")
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
      ->check(CLI::PositiveNumber);
  command->add_option("--threads", o->threads, "threads to use (default: all cores)")
      ->check(CLI::Range(0, 4096));
  command->add_option("--resamples", o->resamples, "of the bootstrap (default 2000)")
      ->check(CLI::PositiveNumber);
  add_decode_options(*command, o->spec.decode);
  command->footer(
      experiment::describe_sweeps() +
      "Example: buoy eval --model LLaDA-8B-Instruct --model Llama-3.1-8B-Instruct --data nq.jsonl.gz\n"
      "         --passages 5 --closed-book --out runs/nq; docs/evaluation.md says what is written.");
  command->callback([o] { evaluate_models(*o); });
}

}  // namespace buoy::app
