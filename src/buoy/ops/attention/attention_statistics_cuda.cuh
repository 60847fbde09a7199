#pragma once

#include <cstdint>

#include "buoy/ops/attention/attention_plan_cuda.cuh"
#include "buoy/ops/moments/qk_moments_fused_cuda.cuh"

namespace buoy::ops {

// What the kernels of the second pass are told.
struct StatisticsArgs {
  const DeviceSequence* sequences;
  const Tile* tiles;
  const Bf16 *queries, *keys;
  std::int64_t query_stride, key_stride;
  const float* key_bias;
  std::int64_t key_bias_stride;    // between heads
  const float* row_shift;          // [heads, padded_rows]
  const std::uint8_t* row_groups;  // [padded_rows]
  float* received;                 // [groups, heads, columns]
  float* first_share;              // [heads, rows]
  float* row_weights;              // [close rows, heads, row_weight_stride]
  std::int64_t row_weight_stride;
  const std::int32_t* close_of_row;   // [padded_rows]: which close row it is; below zero for others
  const std::uint8_t* close_in_tile;  // [padded_rows / kRowsPadded]: whether there is any
  int rows, columns, padded_rows, heads, heads_per_key_head, head_dim, groups;
  float scale;   // of the scores, log2(e) / sqrt(head_dim)
  bool aligned;  // all rows start at multiples of 16 bytes
  RidingMoments moments;
};

// Two numbers of the one-hot matrix [query, group]: queries `pair` and `pair + 1`.
__device__ inline std::uint32_t one_hot_pair(const std::uint8_t* pair, int group) {
  return (pair[0] == group ? 0x3F80u : 0u) | (pair[1] == group ? 0x3F800000u : 0u);
}

// Rows looked at closely, when nothing else is wanted.
struct CloseRowsArgs {
  StatisticsArgs common;
  const CloseTile* tiles;
};
struct TopKeysArgs {
  const float* row_weights;  // [close rows, heads, stride]
  std::int64_t stride;
  int top;
  std::int32_t* keys;  // [close rows, heads, top]
  float* weights;
};
void launch_close_rows(const CloseRowsArgs& args, int tiles, bool early, const Stream& stream);
void launch_top_keys(const TopKeysArgs& args, std::int64_t rows_and_heads, const Stream& stream);

}  // namespace buoy::ops
