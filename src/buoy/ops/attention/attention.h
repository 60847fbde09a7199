#pragma once

#include <cstdint>
#include <span>

#include "buoy/tensor/buffer.h"
#include "buoy/tensor/context.h"

namespace buoy::ops {

// kPrefix: a sequence's first `prefix` positions see each other, those behind them are causal.
// kBlockCausal: a query sees the blocks up to its own, and all of that. Blocks of 1 are causal, one that
// holds the whole sequence is bidirectional.
enum class MaskKind { kBidirectional, kCausal, kBlockCausal, kPrefix };

// kBlockCausal: what a query before the grid's origin sees. kBlocks: the blocks up to its own, counted
// downwards from the origin; kCausal: what precedes it; kWhole: all before the origin.
enum class BeforeGrid { kBlocks, kCausal, kWhole };

struct AttentionMask {
  MaskKind kind = MaskKind::kBidirectional;
  std::int64_t block = 0;  // kBlockCausal: positions of a block
};

// Keys [0, visible_end) are seen by the query at `position` of a sequence of `keys` keys; `prefix` counts for
// kPrefix alone, `grid_origin`, a position at which a block begins, and `before` for kBlockCausal alone.
std::int64_t visible_end(const AttentionMask& mask, std::int64_t prefix, std::int64_t position,
                         std::int64_t keys, std::int64_t grid_origin = 0,
                         BeforeGrid before = BeforeGrid::kBlocks);

struct AttentionShape {
  std::int64_t heads;
  std::int64_t kv_heads;  // query head h reads key head h / (heads / kv_heads)
  std::int64_t head_dim;
  AttentionMask mask;
};

// One sequence of a packed batch.
struct AttentionSequence {
  const float* queries;  // [query_rows, heads, head_dim]
  std::int64_t query_rows;
  std::int64_t first_position;  // of query row 0; larger than 0 with a key/value cache
  const float* keys;            // [key_rows, kv_heads, head_dim]
  const float* values;          // [key_rows, kv_heads, head_dim]
  std::int64_t key_rows;
  const float* key_bias;  // [key_rows] or null: added before the softmax; minus infinity hides a key
  float* output;          // [query_rows, heads, head_dim]
  // The normaliser of each row, [heads, query_rows] or null: its largest score and the sum of
  // exp(score - top). A weight is exp(score - top) / sum; one rounded log-sum-exp would lose bits.
  float* row_top;
  float* row_sum;
  // With a stride of key_rows, key_bias is [heads, key_rows]; with 0 it serves all heads.
  std::int64_t key_bias_stride = 0;
  const float* head_scale = nullptr;  // [heads] or null: factor on a head's output
  std::int64_t prefix = 0;            // kPrefix: positions that see each other
  // kBlockCausal: the sequence's own grid. A block begins at the origin; 0 positions a block: the mask's.
  std::int64_t block = 0;
  std::int64_t grid_origin = 0;
  BeforeGrid before_grid = BeforeGrid::kBlocks;
};

// Of the query in row `row` of the sequence.
inline std::int64_t visible_end(const AttentionShape& shape, const AttentionSequence& sequence,
                                std::int64_t row) {
  const AttentionMask mask{shape.mask.kind, sequence.block > 0 ? sequence.block : shape.mask.block};
  return visible_end(mask, sequence.prefix, sequence.first_position + row, sequence.key_rows,
                     sequence.grid_origin, sequence.before_grid);
}

struct AttentionScratch {
  Buffer<float> packed_keys;
  Buffer<float> packed_values;
  Buffer<float> thread_workspace;
};

// softmax(q k^T / sqrt(head_dim) + bias) v, blocked over keys with a running maximum, so memory grows
// with tokens and never with their square. A query that sees no key gets zeros. A row's result depends on
// its own query and the keys it sees alone, to the bit.
void attention(const Context& context, const AttentionShape& shape,
               std::span<const AttentionSequence> sequences, AttentionScratch& scratch);

struct ReferenceAttention {
  double* output;         // [query_rows, heads, head_dim]
  double* probabilities;  // [heads, query_rows, key_rows]
  double* log_sum_exp;    // [heads, query_rows]
};

// In double; forms the whole matrix of probabilities. Null members are not written.
void attention_reference(const AttentionShape& shape, const AttentionSequence& sequence,
                         const ReferenceAttention& out);

// The matrix itself, for those who ask for it; null members are not wanted.
struct ProbabilityMatrices {
  float* heads = nullptr;  // [heads, query_rows, key_rows]
  float* mean = nullptr;   // [query_rows, key_rows], over the heads
};

// From the row_top and row_sum that a call of attention() left in `sequence`.
void attention_probabilities(const Context& context, const AttentionShape& shape,
                             const AttentionSequence& sequence, const ProbabilityMatrices& out);

}  // namespace buoy::ops
