#pragma once

#include "buoy/result/schema/quantities.h"

namespace buoy::schema {

inline constexpr Producer kHeads{Source::kAnalysis, "heads", "Attention heads",
                                 "received,entropy,first,contribution,value-norms", ""};

inline constexpr QuantityText kHeadText{
    "entropy: of the rows of a head, nats; entropy_share: over the logarithm of the keys that a row sees; "
    "entropy_prompt, entropy_masked, entropy_revealed: of the rows that write the prompt, masked and "
    "revealed slots of the answer; first_prompt, "
    "first_masked, first_revealed: weight of such rows on key 0; value_length: mean length of a head's value "
    "vectors; attended_length: the same weighted by attention; output: mean length of what the head hands to "
    "the "
    "output projection (needs `observe` head-norms); output_share: over the mean of the layer's heads; "
    "dormant: share of heads whose output_share is below 0.5; dormant_at_sink: of heads that are dormant "
    "while their best key receives more than sink_share",
    "entropy, first_...: rows that attend evenly to what they see; entropy_share: 1; attended_length: even "
    "attention; output: the mean of the layer's heads; output_share: 1; dormant: 0, heads that are all "
    "alike; dormant_at_sink: dormant "
    "heads and heads with such a key drawn at random; value_length: none"};

struct HeadsByLayer : QuantityByLayer {
  constexpr HeadsByLayer()
      : QuantityByLayer(
            {kHeads, "heads_by_layer",
             "Entropy, first key, values and outputs of heads by layer, mean over denoising steps"},
            kHeadText) {}
};
inline constexpr HeadsByLayer heads_by_layer;

struct HeadsByStep : QuantityByStep {
  constexpr HeadsByStep()
      : QuantityByStep({kHeads, "heads_by_step", "The same along the run, mean over layers"}) {}
};
inline constexpr HeadsByStep heads_by_step;

struct HeadsByHead : QuantityByHead {
  constexpr HeadsByHead()
      : QuantityByHead({kHeads, "heads_by_head", "The same of every head, mean over denoising steps"}) {}
};
inline constexpr HeadsByHead heads_by_head;

// In the order the analysis makes them.
inline constexpr auto kHeadsTables =
    std::to_array<const TableSchema*>({&heads_by_layer, &heads_by_step, &heads_by_head});

}  // namespace buoy::schema
