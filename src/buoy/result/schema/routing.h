#pragma once

#include "buoy/result/schema/common.h"

namespace buoy::schema {

inline constexpr Producer kRouting{Source::kAnalysis, "routing", "Routing", "routing", ""};

inline constexpr std::string_view kRoutingQuantityMeaning =
    "imbalance: number of experts times the sum of their squared shares of the choices (1: all alike); "
    "entropy: of the router's distribution, nats; top_weight: share of the best expert in the weights; "
    "change: "
    "share of a token's experts that it did not have at the step before; change_masked: of tokens masked at "
    "both steps; change_revealed: of those revealed in between; change_settled: of those known at both; "
    "by_state, by_region, by_type: what the expert says of whether a token is masked, of its region, of its "
    "type (mutual information, nats)";
inline constexpr std::string_view kRoutingNullMeaning =
    "the same with nothing to be found. imbalance: tokens that choose evenly and alone; entropy: an even "
    "distribution; top_weight: even weights; change: the tokens of the step permuted among themselves; "
    "by_...: "
    "the mean over permutations of the step's tokens";

struct RoutingByLayer : TableSchema {
  constexpr RoutingByLayer()
      : TableSchema(
            {kRouting, "routing_by_layer",
             "What routers do in each layer with experts, mean over the denoising steps of a sample"}) {}
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Axis quantity{*this, {"quantity", "name", kRoutingQuantityMeaning}};
  Interval value{*this, {"value", "as the quantity", "mean over samples"}, kOverSamples};
  Value null{*this, {"null", "as the quantity", kRoutingNullMeaning}};
  NamedInterval excess{
      *this, {"excess", "as the quantity", "value less null, mean over samples"}, kOverSamples};
  Value samples{*this, {"samples", "samples", "samples with a value"}};
};
inline constexpr RoutingByLayer routing_by_layer;

struct RoutingByStep : TableSchema {
  constexpr RoutingByStep()
      : TableSchema(
            {kRouting, "routing_by_step", "The same along the run, mean over the layers with experts"}) {}
  Axis quantity{*this, {"quantity", "name", "as in routing_by_layer"}};
  Axis step_bin{*this, {"step_bin", "number", kStepBinMeaning}};
  Interval value{*this, {"value", "as the quantity", "mean over samples"}, kOverSamples};
  Value null{*this, {"null", "as the quantity", "as in routing_by_layer"}};
  NamedInterval excess{
      *this, {"excess", "as the quantity", "value less null, mean over samples"}, kOverSamples};
  Value samples{*this, {"samples", "samples", "samples with a value"}};
};
inline constexpr RoutingByStep routing_by_step;

struct RoutingLoad : TableSchema {
  constexpr RoutingLoad()
      : TableSchema({kRouting, "routing_load", "How much each expert is chosen, all steps and samples"}) {}
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Axis expert{*this, {"expert", "expert", "number of the expert"}};
  Value share{*this, {"share", "share of 1", "of the choices of the layer, mean over samples"}};
  Value even{*this, {"even", "share of 1", "what each would have if all were chosen alike"}};
  Value samples{*this, {"samples", "samples", "samples in the mean"}};
};
inline constexpr RoutingLoad routing_load;

// In the order the analysis makes them.
inline constexpr auto kRoutingTables =
    std::to_array<const TableSchema*>({&routing_by_layer, &routing_by_step, &routing_load});

}  // namespace buoy::schema
