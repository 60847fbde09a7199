#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/run/sample_bytes.h"
#include "buoy/run/trace_run.h"
#include "buoy/tensor/thread_pool.h"
#include "buoy/trace/integrity.h"
#include "buoy/trace/level.h"

namespace buoy::run {

// A full trace to be kept as less.
struct CompactRequest {
  std::filesystem::path trace, out;
  trace::Level keep = trace::Level::kCompact;
  std::int64_t compact_samples = 4;   // as Request has it
  analysis::AnalysisOptions options;  // that states depend on
  std::string command;                // as typed
  trace::Integrity integrity = trace::Integrity::kChecksum;
  bool ignore_space = false;
};

struct CompactResult {
  std::size_t samples = 0, failed = 0;  // those that failed when they were traced stay failed
  std::vector<TraceRunResult::LeftOut> left_out;
};

// Hands the records of a full trace to what takes those of a running model: the samples of `out` have the
// bytes that a run with this level would have written, but for rows that the trace does not hold. InputError
// for a trace that is not full or not complete.
CompactResult compact_trace(const CompactRequest& request, ThreadPool& threads,
                            const TraceRunProgress& progress);

}  // namespace buoy::run
