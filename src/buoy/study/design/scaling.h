#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "buoy/study/study_sizes.h"

namespace buoy::study {

// What one process was measured to take (`timing` says it), and what many of them share.
struct ScalingRates {
  double loading = 0, decoding = 0, report = 0;  // seconds of one process for the whole study
  double disk = 0;   // bytes a second that all nodes together read from the shared disk; 0: no limit
  int per_node = 8;  // processes that share the pages of a node
  double merge_sample = 2e-4;  // seconds for each sample or answer that is joined
};
// "loading=20,decoding=540,report=30,disk=2e9,per_node=8,merge_sample=1e-4". UsageError names what is not
// known; `decoding` is needed.
ScalingRates parse_rates(const std::string& text);

struct ScalingPoint {
  int processes = 1;
  double loading = 0, decoding = 0, merging = 0, report = 0;  // seconds
  double total() const { return loading + decoding + merging + report; }
};

// How long a study takes in so many processes, each with a part of every trace and evaluation. A part is as
// long as its longest share: whole samples, dealt evenly. Weights are read by every node at once.
ScalingPoint scale(const std::vector<StudyPart>& parts, const ScalingRates& rates, std::uint64_t weights,
                   int processes);

// The first number of processes, doubling from 1, that is less than a tenth faster than half as many.
int stops_scaling_at(const std::vector<StudyPart>& parts, const ScalingRates& rates, std::uint64_t weights);

// A line for each number of processes, what is written, and where it stops scaling and why.
std::string describe_scaling(const std::vector<StudyPart>& parts, const ScalingRates& rates,
                             std::uint64_t weights, const std::vector<int>& processes);

}  // namespace buoy::study
