#include <fmt/format.h>

#include <memory>

#include "buoy/app/commands/commands.h"
#include "buoy/app/options/analysis_options.h"
#include "buoy/app/options/shared_options.h"
#include "buoy/base/counted.h"
#include "buoy/base/file/named_path.h"
#include "buoy/base/say.h"
#include "buoy/report/result_files.h"
#include "buoy/study/analysed_traces.h"

namespace buoy::app {
namespace {

struct AnalyzeOptions {
  std::string name, out;
  AnalysisCall call;
};

constexpr size_t kRowsOnTerminal = 40;

void analyze(const AnalyzeOptions& options) {
  analysis::find_analysis(options.name);  // a wrong name before any work
  const auto run = options.call.settled();
  const auto result = study::run_with_progress(
      {options.name}, study::labelled_traces(split_names(options.call.traces), run.integrity()), run);
  const auto& tables = result.analyses[0].tables;
  for (const auto& table : tables) {
    if (table.rows.size() <= kRowsOnTerminal) {
      fmt::print("{}\n{}\n", table.title, to_text(table));
    } else {
      fmt::print("{}: {} rows{}\n\n", table.title, table.rows.size(),
                 options.out.empty() ? " (--out DIR writes them)" : "");
    }
  }
  if (options.out.empty()) return;
  const auto& kind = analysis::find_analysis(options.name);
  const auto written = report::write_results(
      {std::string(kind.producer.name), std::string(kind.producer.title), tables}, options.out);
  for (const auto& omission : written.left_out) say("note: {}\n", omission);
  fmt::print("{}: {}, {}\n", options.out, counted(written.tables, "table"),
             counted(written.figures, "figure"));
}

}  // namespace

void add_analyze(Command& app) {
  auto* command = app.add_subcommand("analyze", "one analysis of one or more traces: tables and figures");
  auto options = std::make_shared<AnalyzeOptions>();
  command->add_option("name", options->name, "which analysis; see below")->required()->type_name("NAME");
  add_analysis_options(*command, options->call)->required();
  add_out_option(*command, options->out);
  std::string footer = "Analyses, and what a trace must hold (--observe):\n";
  for (const auto& kind : analysis::analysis_kinds())
    footer +=
        fmt::format("  {:<11} {:<22} {}\n", kind.producer.name, kind.producer.title, kind.producer.observe);
  command->footer(footer + "--out gets tables/ and figures/. docs/analyses.md says what every number means.");
  command->examples({{"buoy analyze absorption traces/diffusion traces/autoregressive --out results", ""}});
  command->callback([options] { analyze(*options); });
}

}  // namespace buoy::app
