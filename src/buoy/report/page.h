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

// A model, for people.
struct ModelSummary {
  std::string name, family, stored_dtype, commit, weights_sha256;
  std::string mask;                                    // "causal", "full", "prefix"; "": not known
  std::int64_t parameters = 0, layers = 0, heads = 0;  // 0: not known
};

// One trace, for people: what was run.
struct TraceSummary {
  claims::TraceKind kind;
  std::vector<std::pair<std::string, std::string>> facts;  // "model", "LLaDA-8B-Instruct"
  bool judged = true;  // false: it serves the comparison of tasks, its model was changed, or it was left out
  std::string model = {};  // its name: traces of one model have one colour
  ModelSummary card = {};
  std::string decoding = {};  // "max_new_tokens 8; steps 8"
  std::uint64_t seed = 0;
  bool control = false;     // of a network that was never trained: drawn beside the others, never judged
  std::string config = {};  // what it shares with its controls
};

inline constexpr const char* kUsualTitle = "Where attention floats";

// How intervals were made.
struct IntervalFacts {
  double confidence = 0.95;
  std::int64_t resamples = 0, score_resamples = 0;  // of analyses, of scored answers; 0: none
  std::uint64_t seed = 0;
};

// What was asked, for people.
struct QuestionSet {
  std::string name, description;    // a sentence
  std::vector<std::string> traces;  // that ask it, by their names
};

struct ReportInput {
  std::string title = kUsualTitle;
  std::string command;
  std::vector<TraceSummary> traces;
  std::vector<AnalysedTables> analyses;
  std::vector<ExplorerPanel> explorer;  // one per trace
  IntervalFacts intervals = {};
  std::vector<QuestionSet> sets = {};  // as the study describes them
  Notices notices;                     // samples left out, analyses that could not be run and why
  claims::Background background = {};  // networks, and what they were asked
};

// What claims are judged on.
std::vector<Table> judged_tables(const ReportInput& input);
std::vector<claims::TraceKind> judged_traces(const ReportInput& input);

// Writes report.html, which opens from disk and needs nothing else, and beside it tables/ and figures/. A
// section, a figure or a verdict that cannot be made is left out with its reason, on the page and in what is
// returned; only a disk that refuses ends it.
Written write_report(const ReportInput& input, const std::filesystem::path& folder);

}  // namespace buoy::report
