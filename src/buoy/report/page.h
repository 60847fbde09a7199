#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "buoy/claims/claims.h"
#include "buoy/report/explorer.h"
#include "buoy/report/notices.h"
#include "buoy/report/result_files.h"

namespace buoy::report {

// One trace, for people: what was run.
struct TraceSummary {
  claims::TraceKind kind;
  std::vector<std::pair<std::string, std::string>> facts;  // "model", "LLaDA-8B-Instruct"
  bool judged = true;  // false: it serves the comparison of tasks, its model was changed, or it was left out
  std::string model = {};   // its name: traces of one model have one colour
  bool control = false;     // of a network that was never trained: drawn beside the others, never judged
  std::string config = {};  // what it shares with its controls
};

inline constexpr const char* kUsualTitle = "Where attention floats";

struct ReportInput {
  std::string title = kUsualTitle;
  std::string command;
  std::vector<TraceSummary> traces;
  std::vector<AnalysedTables> analyses;
  std::vector<ExplorerPanel> explorer;  // one per trace
  Notices notices;                      // samples left out, analyses that could not be run and why
};

// Writes report.html, which opens from disk and needs nothing else, and beside it tables/ and figures/. A
// section, a figure or a verdict that cannot be made is left out with its reason, on the page and in what is
// returned; only a disk that refuses ends it.
Written write_report(const ReportInput& input, const std::filesystem::path& folder);

}  // namespace buoy::report
