#pragma once

#include "buoy/result/schema/quantities.h"

namespace buoy::schema {

inline constexpr Producer kSinks{Source::kAnalysis, "sinks", "Attention sinks", "received", ""};

inline constexpr QuantityText kSinkText{
    "first, best: attention that key 0 and the best key of a head receive; first_above, best_above: share of "
    "heads in which that is above epsilon (option sink_share); rulli_sum, rulli_percent: keys "
    "of a head above the mean of the others + 3, on the scale of column sums and of percents; ..._share: "
    "attention on them; filtered: share of keys that rulli_sum leaves out; stays, moves, dies: of "
    "the sinks (rulli_sum) of a step, the share that are sinks at the next step, that leave as another "
    "enters, that leave for good; lifetime: mean time at one place, share of the run; static: share of all "
    "sinks of the run that are sinks at every step; masked_best, revealed_best: the best key of the answer's "
    "masked and revealed queries; same_best: share of heads in which both have the same; value_ratio: "
    "length of the value at the best key over the mean of the other keys; drain: share of heads in which it "
    "is below 0.5; contribution: share of the best key in attention times value length",
    "first ... filtered, masked_best, revealed_best: even attention with the same mask (..._share: what it "
    "gives the same keys); stays ... static: as many keys drawn at random at every step; same_best: one in "
    "as "
    "many as there are keys; value_ratio, drain: a key drawn at random; contribution: the key's share of the "
    "attention; nothing where queries of one sort see different keys"};

struct SinksByLayer : QuantityByLayer {
  constexpr SinksByLayer()
      : QuantityByLayer(
            {kSinks, "sinks_by_layer", "Attention sinks by layer, mean over heads and denoising steps"},
            kSinkText) {}
};
inline constexpr SinksByLayer sinks_by_layer;

struct SinksByStep : QuantityByStep {
  constexpr SinksByStep()
      : QuantityByStep({kSinks, "sinks_by_step", "The same along the run, mean over layers"}) {}
};
inline constexpr SinksByStep sinks_by_step;

struct SinksByHead : QuantityByHead {
  constexpr SinksByHead()
      : QuantityByHead({kSinks, "sinks_by_head", "The same of every head, mean over denoising steps"}) {}
};
inline constexpr SinksByHead sinks_by_head;

struct SinksByEpsilon : TableSchema {
  constexpr SinksByEpsilon()
      : TableSchema({kSinks, "sinks_by_epsilon",
                     "Share of heads whose sink is above epsilon, all layers and denoising steps"}) {}
  Axis key{*this, {"key", "name", "first: key 0 (published); best: the key that receives most"}};
  Axis epsilon{*this, {"epsilon", "share of 1", "what the key's share of the head's attention must exceed"}};
  Interval share{*this, {"share", "share of 1", "of heads, mean over samples"}, kOverSamples};
  Value null{*this, {"null", "share of 1", "of even attention with the same mask"}};
  Value samples{*this, {"samples", "samples", "samples with a value"}};
};
inline constexpr SinksByEpsilon sinks_by_epsilon;

// In the order the analysis makes them.
inline constexpr auto kSinksTables =
    std::to_array<const TableSchema*>({&sinks_by_layer, &sinks_by_step, &sinks_by_head, &sinks_by_epsilon});

}  // namespace buoy::schema
