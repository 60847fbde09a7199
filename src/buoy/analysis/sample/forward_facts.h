#pragma once

#include <cstdint>
#include <vector>

#include "buoy/analysis/sample/position_classes.h"
#include "buoy/analysis/sample/sample_facts.h"
#include "buoy/analysis/sample/token_type.h"

namespace buoy::analysis {

// One observed forward of a sample: what is known when it runs. All layers of the forward share it.
struct ForwardFacts {
  std::int64_t index = 0;                 // among the forwards that analyses take; -1: they pass over it
  std::int64_t place = 0;                 // among all that were observed
  std::int32_t number = 0;                // of its step
  bool is_step = true;                    // false: the look at the final row
  Reach reach;                            // the rows that ran, and the keys there are
  std::vector<std::int32_t> row;          // [tokens]
  std::vector<std::uint8_t> masked;       // [tokens]
  std::vector<std::int32_t> revealed_at;  // [tokens], -1: prompt, or still masked
  std::int64_t answer_end = INT64_MAX;    // in this row; see trace::answer_end()
  std::vector<TokenType> types;           // [tokens], masks and padding among them when classified
  std::vector<std::int32_t> group_sizes;  // [groups]: queries
  PositionClasses classes;                // made from the above

  bool shown() const { return index >= 0; }
  bool is_final(const SampleFacts& sample) const { return index == sample.final_index(); }
};

// Fills `reach`, marks masks and padding among the types of the tokens, then fills `classes` from the rest.
void classify(const SampleFacts& sample, ForwardFacts& forward);

}  // namespace buoy::analysis
