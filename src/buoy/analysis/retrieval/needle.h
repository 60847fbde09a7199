#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "buoy/analysis/sample/observed_sample.h"

namespace buoy::analysis {

// The evidence of one sample: the tokens flagged in the trace. The answer may stand in the documents several
// times; runs of flagged tokens are then copies, and the needle is one copy: of every token id as many as the
// run that holds most of them.
struct Needle {
  std::vector<std::int32_t> positions;            // flagged, ascending
  std::map<std::int32_t, std::int64_t> contents;  // token id: times in one copy
  std::int64_t length = 0;                        // tokens of one copy

  bool holds(std::int64_t position) const;
  // Flagged positions up to `last` that hold the token.
  std::int64_t places_of(const ObservedSample& sample, std::int32_t token, std::int64_t last) const;
  std::int64_t places_up_to(std::int64_t last) const;
};

// Throws InputError when the trace has no evidence array; empty when nothing is flagged.
Needle find_needle(const ObservedSample& sample);

// ROUGE-1 recall of the needle: how many of its tokens the answer has, each counted as often as in both.
double needle_recall(const Needle& needle, std::span<const std::int32_t> answer);

}  // namespace buoy::analysis
