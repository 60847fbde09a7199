// Keys, values and queries of one sequence in the panels the dot kernel reads, and the scores of a block of
// queries against a block of keys: shared by the forward pass and by everything that looks at it again.

#if defined(BUOY_OPS_ATTENTION_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BUOY_OPS_ATTENTION_BLOCKS_INL_H_
#undef BUOY_OPS_ATTENTION_BLOCKS_INL_H_
#else
#define BUOY_OPS_ATTENTION_BLOCKS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "buoy/ops/attention/attention.h"
#include "buoy/ops/attention/score_kernel-inl.h"
#include "buoy/ops/linear/dot_kernel-inl.h"
#include "buoy/ops/pointwise/exponential-inl.h"

HWY_BEFORE_NAMESPACE();
namespace buoy::ops::HWY_NAMESPACE {

// Keys of one pass of the running softmax, counted from the start of the sequence: part of the
// definition of a result. Query rows of one task: not.
inline constexpr size_t kKeyBlock = 256;
inline constexpr size_t kQueryBlock = 24;
static_assert(kQueryBlock % kScoreRows == 0 && kQueryBlock % kTileRows == 0);

inline constexpr size_t kAlignedFloats = 64;  // keeps every part of a workspace on its own cache lines

inline constexpr float kHidden = -std::numeric_limits<float>::infinity();

struct Layout {
  size_t head_dim, value_panel_columns, keys_per_head, values_per_head;
};

// Per key/value head and key block: the block's keys in panels of the score kernel; its values transposed,
// head_dim columns in panels of kTileColumns, kKeyBlock deep.
HWY_INLINE Layout layout_of(const AttentionShape& shape, size_t key_rows) {
  const size_t head_dim = static_cast<size_t>(shape.head_dim);
  const size_t blocks = (key_rows + kKeyBlock - 1) / kKeyBlock;
  const size_t value_panels = (head_dim + kTileColumns - 1) / kTileColumns;
  return {head_dim, value_panels, blocks * kKeyBlock * head_dim,
          blocks * value_panels * panel_size(kTileColumns, kKeyBlock)};
}

HWY_INLINE size_t key_block_at(const Layout& layout, size_t block) {
  return block * kKeyBlock * layout.head_dim;
}

HWY_INLINE size_t value_block_at(const Layout& layout, size_t block) {
  return block * layout.value_panel_columns * panel_size(kTileColumns, kKeyBlock);
}

HWY_INLINE void pack_keys(const AttentionShape& shape, const AttentionSequence& s, const Layout& layout,
                          size_t kv_head, size_t block, float* keys) {
  const size_t first = block * kKeyBlock;
  const size_t count = std::min(kKeyBlock, static_cast<size_t>(s.key_rows) - first);
  const size_t stride = static_cast<size_t>(shape.kv_heads) * layout.head_dim;
  const float* key = s.keys + first * stride + kv_head * layout.head_dim;
  const size_t width = score_panel_keys();
  for (size_t j = 0; j < count; j += width) {
    pack_score_keys(key + j * stride, stride, std::min(width, count - j), layout.head_dim,
                    keys + j * layout.head_dim);
  }
}

HWY_INLINE void pack_values(const AttentionShape& shape, const AttentionSequence& s, const Layout& layout,
                            size_t kv_head, size_t block, float* values) {
  const size_t first = block * kKeyBlock;
  const size_t count = std::min(kKeyBlock, static_cast<size_t>(s.key_rows) - first);
  const size_t stride = static_cast<size_t>(shape.kv_heads) * layout.head_dim;
  const float* value = s.values + first * stride + kv_head * layout.head_dim;
  const size_t L = lanes();
  const size_t depth = round_up(count, L);
  for (size_t p = 0; p < layout.value_panel_columns; ++p) {
    float* panel = values + p * panel_size(kTileColumns, kKeyBlock);
    for (size_t j = 0; j < depth; ++j) {
      for (size_t c = 0; c < kTileColumns; ++c) {
        const size_t i = p * kTileColumns + c;
        const bool inside = j < count && i < layout.head_dim;
        panel[(j / L * kTileColumns + c) * L + j % L] = inside ? value[j * stride + i] : 0.0f;
      }
    }
  }
}

// Not a power of two apart, so that the rows of a block do not share cache sets.
inline constexpr size_t kScoreStride = kKeyBlock + 16;

// Rows [first, first + rows) of one head's queries; `end` is how far each sees.
struct QueryBlock {
  size_t head, first, rows;
  size_t end[kQueryBlock];
  size_t last_key;  // the largest end
};

HWY_INLINE QueryBlock query_block(const AttentionShape& shape, const AttentionSequence& s, size_t head,
                                  size_t block) {
  QueryBlock q{};
  q.head = head;
  q.first = block * kQueryBlock;
  q.rows = std::min(kQueryBlock, static_cast<size_t>(s.query_rows) - q.first);
  for (size_t r = 0; r < q.rows; ++r) {
    q.end[r] = static_cast<size_t>(visible_end(shape, s, static_cast<std::int64_t>(q.first + r)));
    q.last_key = std::max(q.last_key, q.end[r]);
  }
  return q;
}

HWY_INLINE void pack_queries(const AttentionShape& shape, const AttentionSequence& s, const Layout& layout,
                             const QueryBlock& q, float* queries) {
  const size_t stride = static_cast<size_t>(shape.heads) * layout.head_dim;
  const float scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(layout.head_dim)));
  for (size_t r = 0; r < q.rows; r += kScoreRows) {
    pack_score_queries(s.queries + (q.first + r) * stride + q.head * layout.head_dim, stride,
                       std::min(kScoreRows, q.rows - r), layout.head_dim, scale,
                       queries + r * layout.head_dim);
  }
}

// scores[r * kScoreStride + j] of keys first_key + j, j < count, biased; minus infinity where a row may not
// look and in the padding up to whole lanes. Returns the padded count.
HWY_INLINE size_t score_block(const AttentionSequence& s, const Layout& layout, const QueryBlock& q,
                              const float* queries, const float* keys, size_t first_key, float* scores) {
  const size_t count = std::min(kKeyBlock, q.last_key - first_key);
  const size_t padded = round_up(count, lanes()), width = score_panel_keys();
  const float* block_keys = keys + key_block_at(layout, first_key / kKeyBlock);
  for (size_t j = 0; j < count; j += width) {
    for (size_t r = 0; r < q.rows; r += kScoreRows) {
      score_tile(std::min(kScoreRows, q.rows - r), queries + r * layout.head_dim,
                 block_keys + j * layout.head_dim, layout.head_dim, scores + r * kScoreStride + j,
                 kScoreStride);
    }
  }
  for (size_t r = 0; r < q.rows; ++r) {
    float* row = scores + r * kScoreStride;
    const size_t visible = q.end[r] > first_key ? std::min(count, q.end[r] - first_key) : 0;
    if (s.key_bias != nullptr) {
      const float* bias = s.key_bias + q.head * static_cast<size_t>(s.key_bias_stride) + first_key;
      for (size_t j = 0; j < visible; ++j) row[j] += bias[j];
    }
    for (size_t j = visible; j < padded; ++j) row[j] = kHidden;
  }
  return padded;
}

HWY_INLINE float largest(const float* row, size_t padded) {
  const F32 df;
  auto top = hn::Set(df, kHidden);
  for (size_t j = 0; j < padded; j += lanes()) top = hn::Max(top, hn::LoadU(df, row + j));
  return hn::GetLane(hn::MaxOfLanes(df, top));
}

// One row of scores becomes weights exp(score - top); returns their sum. Hidden keys weigh exactly 0.
HWY_INLINE float exponentiate(float* row, size_t padded, float top) {
  const F32 df;
  auto sum = hn::Zero(df);
  const auto tops = hn::Set(df, top);
  for (size_t j = 0; j < padded; j += lanes()) {
    const auto below = hn::Sub(hn::LoadU(df, row + j), tops);
    const auto weight = exp_nonpositive(below, clamp_exponent(below));
    sum = hn::Add(sum, weight);
    hn::StoreU(weight, df, row + j);
  }
  return hn::GetLane(hn::SumOfLanes(df, sum));
}

}  // namespace buoy::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
