#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/trace/integrity.h"

namespace buoy::analysis {

struct TraceInput {
  std::filesystem::path folder;
  std::string label;
};

// Samples that could not be analysed: never silently left out.
struct SkippedSample {
  std::string trace, id, reason;
};

struct AnalysisResult {
  std::string name;
  std::vector<Table> tables;  // of all traces, with a first column "trace"; then what compares them
};

// A trace that lacks what an analysis needs.
struct LeftOutTrace {
  std::string trace, reason, analysis;
};

struct RunResult {
  std::vector<AnalysisResult> analyses;
  std::vector<SkippedSample> skipped;  // samples that failed while tracing
  std::vector<LeftOutTrace> left_out;  // only with leave_out_lacking
};

struct RunOptions {
  AnalysisOptions analysis;
  std::int64_t limit = 0;                // samples per trace; 0: all
  std::function<void()> on_sample = {};  // progress; may be empty
  // An analysis leaves a trace out that it cannot be run on, and takes the others; when no trace is left, it
  // has no tables. Otherwise what is wrong with the trace is thrown.
  bool leave_out_lacking = false;
  bool trust = false;  // stored checksums are not compared
  int threads = 0;     // 0: as many as the machine has
  // Settings of `analysis` that nobody asked for: the first trace that keeps states decides about them.
  std::set<std::string> free_settings = {};

  trace::Integrity integrity() const {
    return trust ? trace::Integrity::kSizeOnly : trace::Integrity::kChecksum;
  }
};

// The analyses of one run of a model, after its last sample.
struct AnalysedTrace {
  std::vector<std::unique_ptr<Analysis>> analyses;
  std::vector<SkippedSample> skipped;
};
struct LabelledRun {
  std::string label;
  AnalysedTrace run;
};

// The tables of all runs together, wherever their records came from; an analysis that a run has not is null
// in it. `left_out` is for the caller to fill.
RunResult assemble(const std::vector<std::string>& names, std::vector<LabelledRun> runs,
                   const AnalysisOptions& options);

// A trace, read once for several analyses.
struct TracePass {
  struct Wanted {
    std::string analysis;
    std::string label;  // how its tables call the trace
  };
  std::filesystem::path folder;
  std::vector<Wanted> wanted;
};

// With no setting left free: one set of them for all traces, or their tables could not be compared.
RunOptions settled(const std::vector<std::filesystem::path>& traces, RunOptions options);

// One pass over the samples of each trace. Analyses come in the order in which they are first wanted. Samples
// are read side by side, but for large ones, of which the layers are; tables do not depend on it.
RunResult run_passes(const std::vector<TracePass>& passes, const RunOptions& options);

// Runs the named analyses over the traces in one pass over the samples of each.
RunResult run_analyses(const std::vector<std::string>& names, const std::vector<TraceInput>& traces,
                       const RunOptions& options);

}  // namespace buoy::analysis
