// What the pass is handed: checked before it, kept for observers before rotation.

#include <fmt/format.h>

#include <numeric>

#include "buoy/base/error.h"
#include "buoy/model/block_grid.h"
#include "buoy/model/model.h"
#include "buoy/ops/pointwise/rope.h"

namespace buoy::model {

void Model::check_inputs(std::span<const SequenceInput> sequences, bool observed) const {
  BUOY_CHECK(!sequences.empty());
  for (const auto& sequence : sequences) {
    BUOY_CHECK(!observed || (!sequence.replaces_from && sequence.behind == 0));
    if (sequence.tokens.empty()) throw_usage_error({"sequence", "at least one token", "none"});
    for (const auto id : sequence.tokens) {
      if (id < 0 || id >= config().vocabulary) {
        throw_usage_error({"token id", fmt::format("0 to {}", config().vocabulary - 1), std::to_string(id)});
      }
    }
    for (const auto row : sequence.logit_rows) {
      BUOY_CHECK(row >= 0 && static_cast<size_t>(row) < sequence.tokens.size());
    }
    check_blocks(config(), sequence);
    // A key of the prefix depends on all of it, so a part alone cannot be run.
    if (sequence.prefix_length() < 0 || (mask_of(config()) == AttentionMaskKind::kPrefix &&
                                         sequence.prefix_length() > sequence.longest_prefix())) {
      throw_usage_error({"prefix",
                         fmt::format("0 to {} tokens, those of the first forward", sequence.longest_prefix()),
                         std::to_string(sequence.prefix_length())});
    }
  }
}

void Model::keep_unrotated(const PackedBatch& packed, std::vector<LayerObservation>& observations) const {
  const std::int64_t query_width = config().heads * config().head_dim,
                     key_width = config().kv_heads * config().head_dim;
  for (size_t n = 0; n < observations.size(); ++n) {
    if (!observations[n].request.qk_before) continue;
    const std::int64_t first = packed.first_rows[n];
    const auto rows = static_cast<std::int64_t>(packed.sequences[n].tokens.size());
    const float* queries = work_.queries.data() + first * query_width;
    const float* keys = work_.keys.data() + first * key_width;
    observations[n].unrotated_queries.assign(queries, queries + rows * query_width);
    observations[n].unrotated_keys.assign(keys, keys + rows * key_width);
  }
}

// A cache holds rotated keys only; those of the past are turned back.
void Model::unrotate_past(const Context& context, const PackedBatch& packed, std::int64_t layer,
                          std::vector<LayerObservation>& observations) const {
  const std::int64_t width = config().kv_heads * config().head_dim;
  for (size_t n = 0; n < observations.size(); ++n) {
    const KvCache* cache = packed.sequences[n].cache;
    if (!observations[n].request.qk_before || cache == nullptr || cache->length() == 0) continue;
    std::vector<float> past(cache->keys(layer), cache->keys(layer) + cache->length() * width);
    std::vector<std::int32_t> positions(static_cast<size_t>(cache->length()));
    std::iota(positions.begin(), positions.end(), 0);
    ops::rope(context, rope_, {past.data(), config().kv_heads, config().head_dim, positions, true});
    auto& keys = observations[n].unrotated_keys;
    keys.insert(keys.begin(), past.begin(), past.end());
  }
}

}  // namespace buoy::model
