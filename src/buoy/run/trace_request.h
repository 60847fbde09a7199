#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "buoy/questions/item.h"
#include "buoy/run/loaded_model.h"
#include "buoy/run/request.h"
#include "buoy/run/trace_run.h"

namespace buoy::run {

// Questions to trace and where to; `chat` is settled.
struct TraceRequest : Request {
  std::filesystem::path folder;  // of the trace
  std::string command;           // as typed
  std::vector<questions::Item> items;
  std::optional<Prompt> ids;  // the one item's prompt, where it is given as token ids
  bool resume = false, with_results = false, ignore_space = false;
  LiveAnalyses analyses = {};  // none where less than full is kept: all that what is observed allows
};

// The prompt of every item of a request; may throw for a single one.
std::function<ItemPrompt(std::size_t number)> prompts_of(const TraceRequest& request,
                                                         const LoadedModel& model);

// The run that answers a request; it is as good as complete: its manifest says all that decides its bytes.
TraceRun make_trace_run(const TraceRequest& request, const LoadedModel& model);

// As options and studies say it: `passages` -1: all, 0: closed book; `gold_position` 0: where it is.
Arrangement arrangement_of(std::int64_t passages, std::int64_t gold_position);

}  // namespace buoy::run
