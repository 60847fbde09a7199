#include "model/memory.h"

#include <algorithm>

namespace buoy::model {

std::uint64_t workspace_bytes(const ModelConfig& c, std::int64_t tokens) {
  const std::int64_t queries = c.heads * c.head_dim, keys = c.kv_heads * c.head_dim;
  const std::int64_t wide_rows = std::min<std::int64_t>(tokens, 1024);
  const std::int64_t stream = 2 * tokens * c.hidden;
  const std::int64_t attention =
      tokens * (2 * queries + 4 * keys);  // projections, and keys and values packed
  const std::int64_t mlp = 2 * wide_rows * c.mlp_hidden;
  const std::int64_t packed_inputs = wide_rows * std::max(c.hidden, c.mlp_hidden);
  const std::int64_t logits = tokens * c.vocabulary;
  return static_cast<std::uint64_t>(stream + attention + mlp + packed_inputs + logits) * sizeof(float);
}

}  // namespace buoy::model
