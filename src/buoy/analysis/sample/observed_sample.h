#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "buoy/analysis/sample/sample_facts.h"

namespace buoy::analysis {

// A sample after its last forward: also how it came out.
struct ObservedSample : SampleFacts {
  std::vector<std::int32_t> final_row;    // [tokens]
  std::vector<std::int32_t> revealed_at;  // [tokens], -1: prompt or never
  std::vector<std::string> token_texts;   // [tokens], empty when there are none
  std::vector<std::uint8_t> special;      // [tokens], empty when it is not known
  std::vector<std::uint8_t> ends;         // [tokens], 1: ends an answer; empty when it is not known
  // Ids that end an answer, where tokens may be written again; empty: `ends` says it of every forward.
  std::vector<std::int32_t> end_tokens;
  int right = -1;                               // 1: the answer is right, 0: it is not; -1: not known
  std::vector<std::vector<std::int32_t>> rows;  // [observed][tokens]; empty: every forward saw the final row

  std::vector<std::vector<std::int32_t>> group_sizes;  // [observed][groups]; only of a sample that just ran

  // The row as a forward saw it, by its place among all that were observed, and by its index among those that
  // analyses take; [tokens].
  const std::vector<std::int32_t>& row_of(std::int64_t place) const {
    return rows.empty() ? final_row : rows[static_cast<size_t>(place)];
  }
  const std::vector<std::int32_t>& row_at(std::int64_t s) const { return row_of(place_of(s)); }
  // Whether a position was still masked when a forward ran, by place and by index.
  bool masked_of(std::int64_t place, std::int64_t position) const {
    return mask_token >= 0 && !rows.empty() && position >= prompt_length &&
           row_of(place)[static_cast<size_t>(position)] == mask_token;
  }
  bool masked_at(std::int64_t s, std::int64_t position) const { return masked_of(place_of(s), position); }
};

}  // namespace buoy::analysis
