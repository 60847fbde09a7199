#pragma once

#include "buoy/result/schema/quantities.h"

namespace buoy::schema {

inline constexpr Producer kKvDrift{Source::kAnalysis, "kvdrift", "Drift of keys and values",
                                   "received,kv-drift", ""};

inline constexpr QuantityText kKvDriftText{
    "keys, values: 1 less the cosine of a token's key (value) with that of the step before, mean over "
    "tokens; keys_best, values_best: of the token that receives most (heads averaged); ..._masked, "
    "..._revealed, "
    "..._settled: of tokens that are masked at both steps, were revealed in between, are known at both; "
    "moving: share of tokens whose values have a cosine below 0.99 with the step before; states_moving: the "
    "same of the "
    "residual stream of the rows that write the answer (needs `observe` residual-norms)",
    "..._best, ..._masked, ..._revealed, ..._settled: the mean over all tokens, a token drawn at random; "
    "others: 0, nothing changes"};

struct KvDriftByLayer : QuantityByLayer {
  constexpr KvDriftByLayer()
      : QuantityByLayer({kKvDrift, "kvdrift_by_layer",
                         "How far keys and values move from step to step by layer, mean over steps"},
                        kKvDriftText) {}
};
inline constexpr KvDriftByLayer kvdrift_by_layer;

struct KvDriftByStep : QuantityByStep {
  constexpr KvDriftByStep()
      : QuantityByStep({kKvDrift, "kvdrift_by_step", "The same along the run, mean over layers"}) {}
};
inline constexpr KvDriftByStep kvdrift_by_step;

struct KvDriftDepth : TableSchema {
  constexpr KvDriftDepth()
      : TableSchema({kKvDrift, "kvdrift_depth", "Whether drift grows with the depth of the model"}) {}
  Axis quantity{*this, {"quantity", "name", "keys, values: as in the table by layer"}};
  Axis depth{*this, {"depth", "name", kDepthMeaning}};
  Interval value{*this, {"value", "1", "mean over samples"}, kOverSamples};
  Value null{
      *this,
      {"null", "1", "0: of differences and slopes, drift alike in all layers; of means nothing moves"}};
  Value samples{*this, {"samples", "samples", "samples with a value"}};
};
inline constexpr KvDriftDepth kvdrift_depth;

// In the order the analysis makes them.
inline constexpr auto kKvDriftTables =
    std::to_array<const TableSchema*>({&kvdrift_by_layer, &kvdrift_by_step, &kvdrift_depth});

}  // namespace buoy::schema
