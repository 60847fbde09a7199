#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "buoy/report/page.h"

// How many questions a page rests on.
namespace buoy::report {

// A model with all its traces.
struct TracedModel {
  const TraceSummary* trace = nullptr;                          // the first
  std::vector<std::pair<std::string, std::int64_t>> questions;  // of a trace: what was asked, samples
};
std::vector<TracedModel> models_of(std::span<const TraceSummary> traces);

// "passages: known 16, unknown 24; position: similar 12"; "" where nothing was scored.
std::string asked_questions(std::span<const AnalysedTables> analyses);

}  // namespace buoy::report
