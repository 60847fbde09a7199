#include "buoy/ops/attention/attention_cpu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "buoy/ops/attention/attention_probabilities_cpu.cc"
#include <hwy/foreach_target.h>
// foreach_target must come first.
#include <hwy/highway.h>

#include <vector>

#include "buoy/ops/attention/attention_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace buoy::ops::HWY_NAMESPACE {

// Weights of one head for one block of queries, written to `heads` and added to `mean` where wanted. The
// scores are computed exactly as the forward pass computed them, so its row_top and row_sum fit them to the
// bit.
void probabilities_of_block(const AttentionShape& shape, const AttentionSequence& s, const Layout& layout,
                            const QueryBlock& q, const float* keys, const ProbabilityMatrices& out) {
  const size_t key_rows = static_cast<size_t>(s.key_rows), query_rows = static_cast<size_t>(s.query_rows);
  Buffer<float> queries(kQueryBlock * layout.head_dim), scores(kQueryBlock * kScoreStride);
  pack_queries(shape, s, layout, q, queries.data());
  for (size_t first_key = 0; first_key < q.last_key; first_key += kKeyBlock) {
    const size_t padded = score_block(s, layout, q, queries.data(), keys, first_key, scores.data());
    const size_t count = std::min(kKeyBlock, q.last_key - first_key);
    for (size_t r = 0; r < q.rows; ++r) {
      const size_t row_number = q.head * query_rows + q.first + r;
      if (!(s.row_sum[row_number] > 0)) continue;
      float* row = scores.data() + r * kScoreStride;
      exponentiate(row, padded, s.row_top[row_number]);
      for (size_t j = 0; j < count; ++j) row[j] /= s.row_sum[row_number];
      if (out.heads != nullptr) std::copy_n(row, count, out.heads + row_number * key_rows + first_key);
      if (out.mean != nullptr) {
        float* mean = out.mean + (q.first + r) * key_rows + first_key;
        for (size_t j = 0; j < count; ++j) mean[j] += row[j];
      }
    }
  }
}

// One task per block of queries, heads inside it in order, so that the mean over heads is added by one
// thread.
void probabilities_of_sequence(const Context& context, const AttentionShape& shape,
                               const AttentionSequence& s, const ProbabilityMatrices& out) {
  const size_t key_rows = static_cast<size_t>(s.key_rows), query_rows = static_cast<size_t>(s.query_rows);
  const size_t heads = static_cast<size_t>(shape.heads), kv_heads = static_cast<size_t>(shape.kv_heads);
  const Layout layout = layout_of(shape, key_rows);
  Buffer<float> keys(kv_heads * layout.keys_per_head);
  context.threads.run(shape.kv_heads, [&](std::int64_t kv_head, int) {
    float* packed = keys.data() + static_cast<size_t>(kv_head) * layout.keys_per_head;
    for (size_t block = 0; block * kKeyBlock < key_rows; ++block)
      pack_keys(shape, s, layout, static_cast<size_t>(kv_head), block, packed + key_block_at(layout, block));
  });
  if (out.heads != nullptr) std::fill_n(out.heads, heads * query_rows * key_rows, 0.0f);
  if (out.mean != nullptr) std::fill_n(out.mean, query_rows * key_rows, 0.0f);
  const auto blocks = static_cast<std::int64_t>((query_rows + kQueryBlock - 1) / kQueryBlock);
  context.threads.run(blocks, [&](std::int64_t block, int) {
    for (size_t head = 0; head < heads; ++head) {
      const QueryBlock q = query_block(shape, s, head, static_cast<size_t>(block));
      probabilities_of_block(shape, s, layout, q,
                             keys.data() + head / (heads / kv_heads) * layout.keys_per_head, out);
    }
    if (out.mean == nullptr) return;
    const size_t first = static_cast<size_t>(block) * kQueryBlock;
    const size_t end = std::min(query_rows, first + kQueryBlock);
    for (size_t i = first * key_rows; i < end * key_rows; ++i) out.mean[i] /= static_cast<float>(heads);
  });
}

}  // namespace buoy::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace buoy::ops {

HWY_EXPORT(probabilities_of_sequence);

void attention_probabilities_cpu(const Context& context, const AttentionShape& shape,
                                 const AttentionSequence& sequence, const ProbabilityMatrices& out) {
  HWY_DYNAMIC_DISPATCH(probabilities_of_sequence)(context, shape, sequence, out);
}

}  // namespace buoy::ops
#endif
