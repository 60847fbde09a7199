#pragma once

#include <cstdint>
#include <span>

#include "buoy/ops/attention/attention.h"

namespace buoy::ops {

// What to measure of one sequence's attention; null members are not wanted and cost nothing.
struct AttentionStatistics {
  // Queries in groups: received attention is split by them. A row whose entry is not below `groups`
  // belongs to none; null puts every row into group 0.
  std::int64_t groups = 1;
  const std::uint8_t* group_of_row = nullptr;  // [query_rows]

  float* received =
      nullptr;               // [groups, heads, key_rows]: sum over the group's queries of the weight on a key
  float* entropy = nullptr;  // [heads, query_rows], nats
  float* log_sum_exp = nullptr;  // [heads, query_rows], natural logarithm
  float* first_share = nullptr;  // [heads, query_rows]: weight on key 0

  std::span<const std::int32_t> rows;  // query rows to look at closely, ascending
  float* row_weights = nullptr;        // [rows, heads, key_rows]
  std::int64_t top = 0;                // how many of the strongest keys of those rows
  std::int32_t* top_keys =
      nullptr;                   // [rows, heads, top], strongest first, ties to the lower key; -1: no more
  float* top_weights = nullptr;  // [rows, heads, top]
};

// A second pass over queries and keys that recomputes the scores exactly as attention() did and weighs
// them by the row_top and row_sum it left in `sequence`. Memory beside the outputs: one block of scores
// and one row of sums per thread. Reproducible: a head is always summed by one thread, in order.
void attention_statistics(const Context& context, const AttentionShape& shape,
                          const AttentionSequence& sequence, const AttentionStatistics& wanted);

struct ReferenceStatistics {
  double* received;     // [groups, heads, key_rows] or null
  double* entropy;      // [heads, query_rows] or null
  double* log_sum_exp;  // [heads, query_rows] or null
};

// In double, from the whole matrix of attention_reference().
void attention_statistics_reference(const AttentionShape& shape, const AttentionSequence& sequence,
                                    const AttentionStatistics& wanted, const ReferenceStatistics& out);

}  // namespace buoy::ops
