#include "ops/attention_cpu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/attention_probabilities_cpu.cc"
#include <hwy/foreach_target.h>
// foreach_target must come first.
#include <hwy/highway.h>

#include <vector>

#include "ops/attention_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace buoy::ops::HWY_NAMESPACE {

// The scores are computed exactly as the forward pass computed them, so its row_top and row_sum fit them
// to the bit.
void probabilities_of_head(const AttentionShape& shape, const AttentionSequence& s, size_t head, float* out) {
  const size_t key_rows = static_cast<size_t>(s.key_rows), query_rows = static_cast<size_t>(s.query_rows);
  const Layout layout = layout_of(shape, key_rows);
  const size_t kv_head = head / static_cast<size_t>(shape.heads / shape.kv_heads);
  Buffer<float> keys(layout.keys_per_head), queries(kQueryBlock * round_up(layout.head_dim, lanes()));
  Buffer<float> scores(kQueryBlock * kScoreStride);
  for (size_t block = 0; block * kKeyBlock < key_rows; ++block) {
    pack_keys(shape, s, layout, kv_head, block, keys.data() + key_block_at(layout, block));
  }
  std::fill_n(out, query_rows * key_rows, 0.0f);
  for (size_t block = 0; block * kQueryBlock < query_rows; ++block) {
    const QueryBlock q = query_block(shape, s, head, block);
    pack_queries(shape, s, layout, q, queries.data());
    for (size_t first_key = 0; first_key < q.last_key; first_key += kKeyBlock) {
      const size_t padded = score_block(s, layout, q, queries.data(), keys.data(), first_key, scores.data());
      for (size_t r = 0; r < q.rows; ++r) {
        const size_t row_number = head * query_rows + q.first + r;
        if (!(s.row_sum[row_number] > 0)) continue;
        float* row = scores.data() + r * kScoreStride;
        exponentiate(row, padded, s.row_top[row_number]);
        const size_t count = std::min(kKeyBlock, q.last_key - first_key);
        for (size_t j = 0; j < count; ++j) {
          out[(q.first + r) * key_rows + first_key + j] = row[j] / s.row_sum[row_number];
        }
      }
    }
  }
}

void probabilities_of_heads(const Context& context, const AttentionShape& shape, const AttentionSequence& s,
                            float* probabilities) {
  context.threads.run(shape.heads, [&](std::int64_t head, int) {
    probabilities_of_head(shape, s, static_cast<size_t>(head),
                          probabilities + head * s.query_rows * s.key_rows);
  });
}

}  // namespace buoy::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace buoy::ops {

HWY_EXPORT(probabilities_of_heads);

void attention_probabilities_cpu(const Context& context, const AttentionShape& shape,
                                 const AttentionSequence& sequence, float* probabilities) {
  HWY_DYNAMIC_DISPATCH(probabilities_of_heads)(context, shape, sequence, probabilities);
}

}  // namespace buoy::ops
#endif
