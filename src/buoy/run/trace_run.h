#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "buoy/analysis/core/run.h"
#include "buoy/run/live/live_analyses.h"
#include "buoy/run/live/live_tracer.h"
#include "buoy/run/loaded_model.h"
#include "buoy/run/parts/part.h"
#include "buoy/run/sample_bytes.h"
#include "buoy/run/tracer.h"
#include "buoy/trace/manifest.h"

namespace buoy::run {

// Prompts answered one after the other, and what is kept of each: in a folder, by the level that the request
// says, and in analyses.
struct TraceRun {
  std::filesystem::path folder;  // "": nothing is stored
  trace::Manifest manifest;      // of describe_run(), with storage, probe and sample ids filled in
  Request request;
  LiveAnalyses analyses = {};                            // levels below full need some
  std::function<ItemPrompt(std::size_t number)> prompt;  // of every sample id; may throw for a single one
  bool resume = false;
  bool with_results = false;  // the caller will write tables and figures of the analyses behind the samples
  bool ignore_space = false;  // begin even where the disk is too small for it
  // A part of the run: `folder` is then not looked at, and analyses make states alone, no tables.
  std::optional<Sharding> sharding = {};
};

struct TraceRunProgress {
  std::function<void(const RunBytes& bytes)> begin;  // by what the first sample will take
  std::function<void()> step;
  LiveTimes* times = nullptr;  // may be null
  // Of a part: how many samples it has, and how many of them were there already.
  std::function<void(std::size_t samples, std::size_t written)> part = {};
};

struct FailedSample {
  std::string id, error;
};
struct TraceRunResult {
  std::size_t samples = 0;
  std::vector<FailedSample> failed;
  std::int64_t ids_without_text = 0;  // that the samples written now hold: shown as "<id 44335>"
  // Analyses that no prompt of the run allows are left out.
  struct LeftOut {
    std::string analysis, reason;
  };
  std::vector<LeftOut> left_out;
  std::vector<std::string> names;    // of the analyses that ran
  analysis::AnalysedTrace analysed;  // they, after the last sample
};

// InputErrors and UsageErrors of single prompts are recorded as failed samples; options that no prompt could
// be traced with are refused before there is a folder. InputError when all failed. A run that goes on takes
// what was kept of samples that are there already, so that analyses end as if it had never been interrupted.
TraceRunResult run_trace(const Context& context, LoadedModel& model, const TraceRun& run,
                         const TraceRunProgress& progress);

}  // namespace buoy::run
