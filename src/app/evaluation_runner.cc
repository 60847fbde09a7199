#include "app/evaluation_runner.h"

#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "base/progress.h"
#include "base/say.h"
#include "experiment/summary.h"
#include "report/result_files.h"

namespace buoy::app {
namespace {

void print_tables(const std::vector<Table>& tables) {
  fmt::print("{}\n", to_text(experiment::overview(tables)));
  for (const auto& table : tables) {
    if (table.name != "eval_gain_ratio" && table.name != "eval_averages") continue;
    fmt::print("{}\n{}\n", table.title, to_text(table));
  }
}

}  // namespace

void run_and_summarise(const EvaluationCall& call) {
  std::optional<Progress> bar;
  experiment::EvaluationProgress progress;
  progress.begin = [&](std::size_t answers) {
    bar.emplace(stderr, "answer", static_cast<std::int64_t>(answers));
  };
  progress.step = [&] { bar->advance(); };
  progress.note = [](const std::string& text) { say("note: {}\n", text); };
  const auto result = experiment::run_evaluation(call.spec, call.out, call.resume, progress);
  bar.reset();

  const auto book = experiment::read_scores(call.out);
  const auto tables = experiment::summarise(
      book, {.resamples = call.resamples, .level = 0.95, .seed = call.spec.decode.seed});
  experiment::write_summary(tables, call.out);
  const auto written = report::write_results("evaluation", tables, call.out);
  print_tables(tables);
  fmt::print("{}: {} answers, {} tables, {} figures; asked {} in {} ({:.2f} per second)\n", call.out.string(),
             result.answers, written.tables, written.figures, result.asked, describe_duration(result.seconds),
             result.seconds > 0 ? static_cast<double>(result.asked) / result.seconds : 0);
  for (const auto& cell : book.cells) {
    if (cell.answers.empty())
      throw InputError(fmt::format("{}: every item of {}, {}, {} failed; the first: {}", call.out.string(),
                                   cell.model, cell.set, cell.condition, cell.failures.front().error));
  }
}

}  // namespace buoy::app
