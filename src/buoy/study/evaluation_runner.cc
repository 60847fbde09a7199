#include "buoy/study/evaluation_runner.h"

#include <fmt/format.h>

#include <optional>

#include "buoy/base/counted.h"
#include "buoy/base/error.h"
#include "buoy/base/progress.h"
#include "buoy/base/say.h"
#include "buoy/report/result_files.h"
#include "buoy/result/schema/evaluation.h"
#include "buoy/run/summary/summary.h"
#include "buoy/study/failure_list.h"

namespace buoy::study {
namespace {

void print_tables(const std::vector<Table>& tables) {
  fmt::print("{}\n", to_text(run::overview(tables)));
  for (const auto& table : tables) {
    if (!table.is(schema::eval_gain_ratio) && !table.is(schema::eval_averages)) continue;
    fmt::print("{}\n{}\n", table.title, to_text(table));
  }
}

std::vector<Failure> failures_of(const run::ScoreBook& book) {
  std::vector<Failure> out;
  for (const auto& cell : book.cells) {
    for (const auto& failure : cell.failures)
      out.push_back(
          {fmt::format("{}, {}, {}, {}", cell.model, cell.set, cell.condition, failure.id), failure.error});
  }
  return out;
}

// What the answers lack: those that failed, ids that have no text.
std::string describe_losses(const run::ScoreBook& book) {
  std::size_t failed = 0, answers = 0;
  std::int64_t ids = 0;
  for (const auto& cell : book.cells) {
    failed += cell.failures.size();
    for (const auto& answer : cell.answers) {
      answers += answer.ids_without_text > 0 ? 1 : 0;
      ids += answer.ids_without_text;
    }
  }
  std::string out;
  if (failed > 0)
    out += fmt::format(", {} failed (listed in tables/{}.csv)", failed, schema::eval_failures.name());
  if (ids > 0)
    out += fmt::format(", {} without text in {} (shown as <id N>)",
                       counted(static_cast<std::uint64_t>(ids), "id"),
                       counted(static_cast<std::uint64_t>(answers), "answer"));
  return out;
}

// A cell without any answer is said; a run without any is no result.
void require_answers(const run::ScoreBook& book, const std::filesystem::path& out) {
  std::string first;
  bool any = false;
  for (const auto& cell : book.cells) {
    any |= !cell.answers.empty();
    if (!cell.answers.empty()) continue;
    const std::string said = fmt::format("{}: every item of {}, {}, {} failed; the first: {}", out.string(),
                                         cell.model, cell.set, cell.condition, cell.failures.front().error);
    if (first.empty()) first = said;
    say("note: {}\n", said);
  }
  if (!any) throw InputError(first);
}

// `asked` is what a process asked now; null: it asked nothing.
void summarise(const RunToSummarise& run, const std::function<void()>& when_written,
               const run::EvaluationResult* asked) {
  const auto book = run.parts != nullptr ? run::read_scores(run.out, *run.parts) : run::read_scores(run.out);
  const auto tables =
      run::summarise(book, {.replicates = run.resamples, .confidence = 0.95, .seed = run.seed});
  run::write_summary(tables, run.out);
  const auto written = report::write_results(
      {std::string(schema::kEvaluation.name), std::string(schema::kEvaluation.title), tables}, run.out);
  when_written();
  for (const auto& omission : written.left_out) say("note: {}\n", omission);
  print_tables(tables);
  const auto failures = failures_of(book);
  print_failures(failures,
                 (run.out / "tables" / fmt::format("{}.csv", schema::eval_failures.name())).string());
  std::size_t answers = 0;
  for (const auto& cell : book.cells) answers += cell.answers.size() + cell.failures.size();
  std::string rate;
  if (asked != nullptr)
    rate =
        fmt::format("; asked {} in {} ({:.2f} per second)", asked->asked, describe_duration(asked->seconds),
                    asked->seconds > 0 ? static_cast<double>(asked->asked) / asked->seconds : 0);
  fmt::print("{}: {} of {} answered{}; {}, {}{}\n", run.out.string(), answers - failures.size(), answers,
             describe_losses(book), counted(written.tables, "table"), counted(written.figures, "figure"),
             rate);
  require_answers(book, run.out);
}

}  // namespace

void run_and_summarise(const EvaluationCall& call) {
  std::optional<Progress> bar;
  run::EvaluationProgress progress;
  progress.begin = [&](std::size_t answers) {
    bar.emplace(stderr, "answer", static_cast<std::int64_t>(answers));
  };
  progress.step = [&] { bar->advance(); };
  progress.note = [](const std::string& text) { say("note: {}\n", text); };
  progress.clock = call.clock;
  const auto result = run::run_evaluation(call.spec, call.out, call.resume, progress);
  bar.reset();

  summarise(
      {call.out, call.resamples, call.spec.decode.seed}, [] {}, &result);
  if (call.clock != nullptr) call.clock->lap("writing");
}

void summarise_run(const RunToSummarise& run, const std::function<void()>& when_written) {
  summarise(run, when_written, nullptr);
}

}  // namespace buoy::study
