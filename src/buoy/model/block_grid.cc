#include "buoy/model/block_grid.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/model/family.h"

namespace buoy::model {
namespace {

constexpr std::int64_t kWholeSequence = std::int64_t{1} << 40;

}  // namespace

bool takes_grid(const ModelConfig& config) {
  return may_decode_blocks(config.family) ||
         (may_be_masked_diffusion(config.family) && mask_of(config) == AttentionMaskKind::kCausal);
}

BlockGrid whole_sequence() {
  return {kWholeSequence};
}

ops::MaskKind mask_kind(const ModelConfig& config, std::span<const SequenceInput> sequences) {
  const bool any = std::any_of(sequences.begin(), sequences.end(),
                               [](const SequenceInput& sequence) { return sequence.grid.has_value(); });
  return any ? ops::MaskKind::kBlockCausal : attention_mask(config);
}

BlockGrid grid_of(const ModelConfig& config, const SequenceInput& sequence) {
  if (!takes_grid(config)) return {};
  if (sequence.grid) return *sequence.grid;
  if (mask_of(config) == AttentionMaskKind::kCausal) return {1};
  return {config.block_length.value_or(kWholeSequence), 0};
}

void check_blocks(const ModelConfig& config, const SequenceInput& sequence) {
  if (sequence.grid && !takes_grid(config)) {
    throw_usage_error({"grid", "a model that may decode blocks", std::string(name_of(config.family))});
  }
  if (sequence.grid && (sequence.grid->block < 1 || sequence.grid->origin < 0)) {
    throw_usage_error({"grid", "blocks of at least 1 position from an origin of at least 0",
                       fmt::format("{} from {}", sequence.grid->block, sequence.grid->origin)});
  }
  if (sequence.replaces_from && (sequence.cache == nullptr || *sequence.replaces_from < 0 ||
                                 *sequence.replaces_from + sequence.rows() > sequence.cache->length())) {
    throw_usage_error({"replaces_from", "a position of a cache that holds all tokens behind it",
                       std::to_string(*sequence.replaces_from)});
  }
}

}  // namespace buoy::model
