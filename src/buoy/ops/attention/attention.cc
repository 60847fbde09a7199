#include "buoy/ops/attention/attention.h"

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/ops/attention/attention_cpu.h"

namespace buoy::ops {
namespace {

// Behind the block that holds the position. Blocks before the origin are counted downwards from it.
std::int64_t block_end(std::int64_t block, std::int64_t origin, std::int64_t position) {
  const std::int64_t from_origin = position - origin;
  const std::int64_t in_block = ((from_origin % block) + block) % block;
  return position - in_block + block;
}

}  // namespace

std::int64_t visible_end(const AttentionMask& mask, std::int64_t prefix, std::int64_t position,
                         std::int64_t keys, std::int64_t grid_origin, BeforeGrid before) {
  switch (mask.kind) {
    case MaskKind::kBidirectional:
      return keys;
    case MaskKind::kCausal:
      return std::min(keys, position + 1);
    case MaskKind::kBlockCausal:
      if (position < grid_origin && before == BeforeGrid::kCausal) return std::min(keys, position + 1);
      if (position < grid_origin && before == BeforeGrid::kWhole) return std::min(keys, grid_origin);
      return std::min(keys, block_end(mask.block, grid_origin, position));
    case MaskKind::kPrefix:
      return std::min(keys, std::max(position + 1, prefix));
  }
  return keys;
}

static void check(const AttentionShape& shape, const AttentionSequence& sequence) {
  BUOY_CHECK(shape.kv_heads > 0 && shape.heads % shape.kv_heads == 0 && shape.head_dim > 0);
  BUOY_CHECK(shape.mask.kind != MaskKind::kBlockCausal || shape.mask.block > 0 || sequence.block > 0);
  BUOY_CHECK(sequence.block >= 0);
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
