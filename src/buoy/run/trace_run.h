#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "buoy/run/loaded_model.h"
#include "buoy/run/sample_bytes.h"
#include "buoy/run/tracer.h"
#include "buoy/trace/manifest.h"

namespace buoy::run {

// Prompts traced one after the other into a folder.
struct TraceRun {
  std::filesystem::path folder;
  trace::Manifest manifest;  // of describe_run(), with storage, probe and sample ids filled in
  Request request;
  std::function<ItemPrompt(std::size_t number)> prompt;  // of every sample id; may throw for a single one
  bool resume = false;
  bool ignore_space = false;  // begin even where the disk is too small for it
};

struct TraceRunProgress {
  std::function<void(const RunBytes& bytes)> begin;  // by what the first sample will take
  std::function<void()> step;
};

struct FailedSample {
  std::string id, error;
};
struct TraceRunResult {
  std::size_t samples = 0;
  std::vector<FailedSample> failed;
  std::int64_t ids_without_text = 0;  // that the samples written now hold: shown as "<id 44335>"
};

// InputErrors and UsageErrors of single prompts are recorded as failed samples; options that no prompt could
// be traced with are refused before there is a folder. InputError when all failed.
TraceRunResult run_trace(const Context& context, LoadedModel& model, const TraceRun& run,
                         const TraceRunProgress& progress);

}  // namespace buoy::run
