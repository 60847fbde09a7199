#include "buoy/ops/attention/attention.h"

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/ops/attention/attention_cpu.h"

namespace buoy::ops {

std::int64_t visible_end(const AttentionMask& mask, std::int64_t prefix, std::int64_t position,
                         std::int64_t keys) {
  switch (mask.kind) {
    case MaskKind::kBidirectional:
      return keys;
    case MaskKind::kCausal:
      return std::min(keys, position + 1);
    case MaskKind::kBlockCausal:
      return std::min(keys, (position / mask.block + 1) * mask.block);
    case MaskKind::kPrefix:
      return std::min(keys, std::max(position + 1, prefix));
  }
  return keys;
}

static void check(const AttentionShape& shape, const AttentionSequence& sequence) {
  BUOY_CHECK(shape.kv_heads > 0 && shape.heads % shape.kv_heads == 0 && shape.head_dim > 0);
  BUOY_CHECK(shape.mask.kind != MaskKind::kBlockCausal || shape.mask.block > 0);
  BUOY_CHECK(sequence.query_rows >= 0 && sequence.key_rows >= 0 && sequence.first_position >= 0 &&
             sequence.prefix >= 0);
}

void attention(const Context& context, const AttentionShape& shape,
               std::span<const AttentionSequence> sequences, AttentionScratch& scratch) {
  for (const auto& sequence : sequences) check(shape, sequence);
  attention_cpu(context, shape, sequences, scratch);
}

void attention_probabilities(const Context& context, const AttentionShape& shape,
                             const AttentionSequence& sequence, const ProbabilityMatrices& out) {
  check(shape, sequence);
  BUOY_CHECK(sequence.row_top != nullptr && sequence.row_sum != nullptr);
  attention_probabilities_cpu(context, shape, sequence, out);
}

}  // namespace buoy::ops
