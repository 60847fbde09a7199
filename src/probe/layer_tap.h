#pragma once

#include <cstdint>

namespace buoy::probe {

// What one layer's attention works on, for one sequence of the batch. Valid during the call only.
struct LayerStates {
  std::int64_t layer;
  std::int64_t sequence;  // number in the batch
  std::int64_t query_rows;
  std::int64_t key_rows;
  std::int64_t first_position;  // of query row 0
  std::int64_t heads;
  std::int64_t kv_heads;
  std::int64_t head_dim;
  const float* queries;  // [query_rows, heads, head_dim], after norm and rotation
  const float* keys;     // [key_rows, kv_heads, head_dim], likewise
  const float* values;   // [key_rows, kv_heads, head_dim]
  const float* row_top;  // [heads, query_rows], largest score of each row
  const float* row_sum;  // [heads, query_rows], sum of exp(score - top)
  bool causal;
};

// Ask, then take: a model calls wants() for every layer and pays nothing where the answer is no.
class LayerTap {
 public:
  virtual ~LayerTap() = default;
  virtual bool wants(std::int64_t layer) const = 0;
  virtual void take(const LayerStates& states) = 0;
};

}  // namespace buoy::probe
