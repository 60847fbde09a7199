#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "buoy/run/parts/part.h"
#include "buoy/run/trace_run.h"
#include "buoy/trace/writer.h"

namespace buoy::run {

// How the parts of a trace are begun. AnotherRun is called by the name of what was asked.

// The trace of a run in one part that goes on.
trace::TraceWriter resumed(const TraceRun& run);
// A part plans its own samples, or all where it may take any.
trace::TraceWriter part_writer(const TraceRun& run, const Part& part);
// The whole run in the folder that its parts share: as an unfinished trace, which every part compares with
// its own request.
void write_plan(const TraceRun& run);
// What each sample is expected to cost; 0 for a prompt that cannot be made, which fails.
std::vector<std::uint64_t> costs_of(const ModelConfig& config, const TraceRun& run);
// Whether a folder with parts holds the whole trace.
bool is_joined(const std::filesystem::path& folder);

}  // namespace buoy::run
