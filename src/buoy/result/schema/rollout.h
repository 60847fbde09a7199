#pragma once

#include "buoy/result/schema/quantities.h"

namespace buoy::schema {

inline constexpr Producer kRollout{Source::kAnalysis, "rollout", "Rollout between tokens", "dense-mean", ""};

inline constexpr QuantityText kRolloutText{
    "of the rows that write the answer, followed from the last layer down through this one (half self, half "
    "attention, heads averaged): first, prompt, gold, evidence: what arrives at key 0, the prompt, gold "
    "regions, "
    "evidence; reached: exponential of the entropy over tokens",
    "the same rollout of even attention with the same mask"};

struct RolloutByLayer : QuantityByLayer {
  constexpr RolloutByLayer()
      : QuantityByLayer({kRollout, "rollout_by_layer",
                         "What the answer rests on, followed from token to token down to a layer"},
                        kRolloutText) {}
};
inline constexpr RolloutByLayer rollout_by_layer;

struct RolloutTokens : TableSchema {
  constexpr RolloutTokens()
      : TableSchema(
            {kRollout, "rollout_tokens", "The tokens that one sample's answer rests on, all layers"}) {}
  Axis sample{*this, {"sample", "text", "id of the sample"}};
  Axis position{*this, {"position", "position", "position in the row"}};
  Value token{*this, {"token", "text", "text of the token; empty when the trace has none"}};
  Value share{*this, {"share", "share of 1", "what arrives at the token"}};
  Value null{*this, {"null", "share of 1", "of even attention with the same mask"}};
};
inline constexpr RolloutTokens rollout_tokens;

// In the order the analysis makes them.
inline constexpr auto kRolloutTables =
    std::to_array<const TableSchema*>({&rollout_by_layer, &rollout_tokens});

}  // namespace buoy::schema
