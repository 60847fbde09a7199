#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "buoy/probe/previous_keys.h"
#include "buoy/probe/residual.h"
#include "buoy/tensor/key_sets.h"

namespace buoy::probe {

// Where in a run: which sequence, which of its forwards, which layer.
struct Address {
  std::int64_t sequence = 0;
  std::int64_t step = 0;
  std::int64_t branch = 0;  // 1: the unconditional pass of guidance
  std::int64_t layer = 0;
};

inline constexpr std::int64_t kWholeForward = -1;  // in place of a layer: what comes behind the last one

inline constexpr std::int64_t kMostGroups = 16;
inline constexpr std::uint8_t kNoGroup = 255;

// The rows whose attention decides what a change that follows the model does in the next forward.
enum class FollowedRows : std::uint8_t { kNone, kAll, kLast };

// What is wanted at one address. Everything is off; what stays off costs nothing.
struct LayerRequest {
  // Queries in up to kMostGroups groups, by row; kNoGroup leaves a row out. Empty: all rows in group 0.
  std::int64_t groups = 1;
  std::vector<std::uint8_t> group_of_row;
  std::uint8_t group_of(std::size_t row) const { return group_of_row.empty() ? 0 : group_of_row[row]; }

  bool received = false;     // attention received by every key, per head and query group
  bool entropy = false;      // of every row, nats
  bool log_sum_exp = false;  // of every row
  bool first_share = false;  // weight of every row on key 0

  std::vector<std::int32_t> rows;  // query rows to look at closely, ascending
  bool row_weights = false;        // all their weights
  std::int64_t top = 0;            // their strongest keys

  // Weights summed over sets of keys, where the attention is computed; null: no sets.
  std::shared_ptr<const KeySets> key_sets;
  bool row_mass = false;    // of `rows`
  bool group_mass = false;  // of what each group of queries gives; needs `received`

  bool qk_after = false;    // column means of q.k, cos and |q||k| as the softmax sees them
  bool qk_before = false;   // the same before the rotation
  bool norms = false;       // |q|, |k|
  bool value_norm = false;  // |v|

  bool head_norm = false;  // of what every head hands to the output projection, after its scale
  // Cosines of every key's key and value vectors with those of the forward before; null: not wanted.
  std::shared_ptr<PreviousKeys> previous_keys;

  bool dense = false;       // the weights themselves, [heads, rows, keys]
  bool dense_mean = false;  // their mean over the heads, [rows, keys]
  bool states = false;      // queries, keys and values

  // Attention that every key receives of these rows, per head, whatever the groups are: a change reads it,
  // and must choose alike whoever else looks.
  FollowedRows followed = FollowedRows::kNone;

  ResidualRequest residual;  // of the stream that attention and MLP add to
  bool routing = false;      // of every row, where the layer has experts

  bool weighs() const { return received || entropy || log_sum_exp || first_share || looks_closely(); }
  bool needs_second_pass() const { return weighs() || follows(); }
  bool follows() const { return followed != FollowedRows::kNone; }
  // `received` says it already.
  bool follows_received() const {
    return followed == FollowedRows::kAll && received && groups == 1 && group_of_row.empty();
  }
  bool looks_closely() const { return (row_weights || row_mass || top > 0) && !rows.empty(); }
  std::int64_t sets() const { return key_sets ? key_sets->count() : 0; }
  bool needs_normaliser() const { return needs_second_pass() || dense || dense_mean; }
  bool needs_moments() const { return qk_after || qk_before || norms || value_norm; }
  bool behind_attention() const { return residual.any() || routing; }
  bool any() const {
    return needs_normaliser() || needs_moments() || head_norm || previous_keys || states ||
           behind_attention();
  }
};

// Rows of a forward whose distribution over the vocabulary is wanted, in any order. Logits that nobody else
// needs are computed for it.
struct PredictionRequest {
  static constexpr std::int32_t kMostProbable = -1;

  std::vector<std::int32_t> rows;
  std::vector<std::int32_t> held;  // [rows]: the token whose probability is wanted, or kMostProbable
  std::int64_t top = 0;            // how many of the most probable tokens are named

  bool any() const { return !rows.empty(); }
};

// What is changed at one address: an additive bias before the softmax (minus infinity hides a key, log(x)
// damps or boosts it), a factor on a head's output, vectors for the residual stream in their order, a factor
// on what the MLP adds to it (0: it is left out). Empty: nothing.
struct Change {
  std::span<const float> key_bias;    // [heads, keys], or [keys] for all heads alike
  std::span<const float> head_scale;  // [heads]
  std::span<const ResidualChange> residual = {};
  float mlp_scale = 1.0f;

  bool changes_residual() const { return !residual.empty() || mlp_scale != 1.0f; }
  bool any() const { return !key_bias.empty() || !head_scale.empty() || changes_residual(); }
};

}  // namespace buoy::probe
