#pragma once

#include <filesystem>
#include <functional>
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

// A trace that lacks what the analyses need.
struct LeftOutTrace {
  std::string trace, reason;
};

struct RunResult {
  std::vector<AnalysisResult> analyses;
  std::vector<SkippedSample> skipped;  // samples that failed while tracing
  std::vector<LeftOutTrace> left_out;  // only with leave_out_lacking
};

struct RunOptions {
  AnalysisOptions analysis;
  std::int64_t limit = 0;           // samples per trace; 0: all
  std::function<void()> on_sample;  // progress; may be empty
  // A trace that one of the analyses cannot be run on is left out, and the others are analysed; when no trace
  // is left, there are no tables. Otherwise what is wrong with it is thrown.
  bool leave_out_lacking = false;
  bool trust = false;  // stored checksums are not compared
  int threads = 0;     // 0: as many as the machine has

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

// The tables of all runs together, wherever their records came from. `left_out` is for the caller to fill.
RunResult assemble(const std::vector<std::string>& names, std::vector<LabelledRun> runs,
                   const AnalysisOptions& options);

// Runs the named analyses over the traces in one pass over the samples of each.
RunResult run_analyses(const std::vector<std::string>& names, const std::vector<TraceInput>& traces,
                       const RunOptions& options);

}  // namespace buoy::analysis
