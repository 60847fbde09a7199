#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/table.h"
#include "report/claims.h"
#include "report/explorer.h"
#include "report/section.h"

namespace buoy::report {

// One trace, for people: what was run.
struct TraceSummary {
  TraceKind kind;
  std::vector<std::pair<std::string, std::string>> facts;  // "model", "LLaDA-8B-Instruct"
  bool judged = true;  // false: it serves the comparison of tasks, or its model was changed
};

struct AnalysedTables {
  std::string name;  // of the analysis
  std::vector<Table> tables;
};

struct ReportInput {
  std::string command;
  std::vector<TraceSummary> traces;
  std::vector<AnalysedTables> analyses;
  std::vector<ExplorerPanel> explorer;  // one per trace
  std::vector<std::string> notes;       // samples left out, analyses that could not be run and why
};

struct ReportSize {
  size_t tables = 0, figures = 0;
};

// Writes report.html, which opens from disk and needs nothing else, and beside it tables/ and figures/.
ReportSize write_report(const ReportInput& input, const std::filesystem::path& folder);

}  // namespace buoy::report
