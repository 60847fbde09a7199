#pragma once

#include "buoy/result/schema/blocks.h"
#include "buoy/result/schema/common.h"

namespace buoy::schema {

inline constexpr Producer kAbsorption{Source::kAnalysis, "absorption", "Absorption", "received", ""};

inline constexpr std::string_view kAbsorbedPercentMeaning =
    "share of received attention on the selected positions, mean over samples";
inline constexpr std::string_view kStepsMeaning =
    "final: the forward over the final row, or the last observed step where the trace has none (the tokens "
    "that step reveals are still masked); all: mean over the observed denoising steps";
inline constexpr std::string_view kSelectorMeaning =
    "which positions: position_0 (published for autoregressive models), additive (published for "
    "masked-diffusion models: in effect the largest), or a calibrated rule (docs/analyses.md)";
inline constexpr std::string_view kFloorPercentMeaning =
    "what uniform attention with the same mask gives the same positions, percent";

struct AbsorptionPublished : TableSchema {
  constexpr AbsorptionPublished()
      : TableSchema({kAbsorption, "absorption_published",
                     "Absorption by layer as published: position 0 for autoregressive models, the additive "
                     "rule (the largest position) for masked-diffusion models, heads averaged, final row"}) {}
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Value selector{*this, {"selector", "name", "position_0 or additive"}};
  Value absorbed_percent{*this, {"absorbed_percent", "percent", kAbsorbedPercentMeaning}};
  Value deviation{
      *this,
      {"deviation", "percent", "population standard deviation over samples, percent: the published band"}};
  Value floor_percent{
      *this,
      {"floor_percent", "percent",
       "what uniform attention with the same mask gives the same positions, percent (not published)"}};
  Value saw_final_row{*this,
                      {"saw_final_row", "share of 1",
                       "share of samples with a forward over the final, fully unmasked row that the paper "
                       "uses; below 1 the last denoising step stands in for it"}};
  Value samples{*this, {"samples", "samples", "samples"}};
};
inline constexpr AbsorptionPublished absorption_published;

struct AbsorptionByLayer : TableSchema {
  constexpr AbsorptionByLayer()
      : TableSchema({kAbsorption, "absorption_by_layer",
                     "Absorption by layer, calibrated: every selector on every model, with its floor"}) {}
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Axis steps{*this, {"steps", "name", kStepsMeaning}};
  Axis view{*this, {"view", "name", kViewMeaning}};
  Axis selector{*this, {"selector", "name", kSelectorMeaning}};
  Interval absorbed_percent{*this, {"absorbed_percent", "percent", kAbsorbedPercentMeaning}, kOverSamples};
  Value deviation{*this, {"deviation", "percent", "population standard deviation over samples"}};
  Value floor_percent{*this, {"floor_percent", "percent", kFloorPercentMeaning}};
  NamedInterval lift{*this,
                     {"lift", "times even attention",
                      "absorbed / floor, ratio of means; nothing where nothing was selected"},
                     kOverSamples};
  Value set_size{*this, {"set_size", "positions", "selected positions, mean"}};
  Value undefined{*this, {"undefined", "share of 1", "share of maps in which the rule has no meaning"}};
  Value samples{*this, {"samples", "samples", "samples with a value"}};
};
inline constexpr AbsorptionByLayer absorption_by_layer;

struct AbsorptionSummary : TableSchema {
  constexpr AbsorptionSummary()
      : TableSchema(
            {kAbsorption, "absorption_summary",
             "Absorption over depth (claim C4: the same selector on every model, against its floor)"}) {}
  Axis steps{*this, {"steps", "name", kStepsMeaning}};
  Axis view{*this, {"view", "name", kViewMeaning}};
  Axis selector{*this, {"selector", "name", kSelectorMeaning}};
  Axis depth{*this, {"depth", "name", kDepthMeaning}};
  Interval absorbed_percent{
      *this, {"absorbed_percent", "percent", "mean over samples of the mean over layers"}, kOverSamples};
  Value floor_percent{*this, {"floor_percent", "percent", kFloorPercentMeaning}};
  NamedInterval lift{*this,
                     {"lift", "times even attention", "absorbed / floor; nothing for differences and slopes"},
                     kOverSamples};
  Value samples{*this, {"samples", "samples", "samples with a value"}};
};
inline constexpr AbsorptionSummary absorption_summary;

struct AbsorptionByStep : TableSchema {
  constexpr AbsorptionByStep()
      : TableSchema({kAbsorption, "absorption_by_step",
                     "Absorption by layer and time in the denoising run (calibrated)"}) {}
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Axis step_bin{*this, {"step_bin", "eighth of the run", kStepBinMeaning}};
  Axis view{*this, {"view", "name", kViewMeaning}};
  Axis selector{*this, {"selector", "name", kSelectorMeaning}};
  Value absorbed_percent{
      *this, {"absorbed_percent", "percent", "mean over the steps in the bin, heads and samples"}};
  Value deviation{*this, {"deviation", "percent", "population standard deviation over the same"}};
  Value floor_percent{*this, {"floor_percent", "percent", kFloorPercentMeaning}};
  Value maps{*this, {"maps", "maps", kMapsMeaning}};
};
inline constexpr AbsorptionByStep absorption_by_step;

struct AbsorptionByHead : TableSchema {
  constexpr AbsorptionByHead()
      : TableSchema({kAbsorption, "absorption_by_head",
                     "Absorption of every head, mean over the observed steps (calibrated)"}) {}
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Axis head{*this, {"head", "head", "query head"}};
  Axis selector{*this, {"selector", "name", kSelectorMeaning}};
  Value absorbed_percent{*this, {"absorbed_percent", "percent", "mean over steps and samples"}};
  Value deviation{*this, {"deviation", "percent", kDeviationMeaning}};
  Value floor_percent{*this, {"floor_percent", "percent", kFloorPercentMeaning}};
  Value maps{*this, {"maps", "maps", "maps (steps times samples) with a value"}};
};
inline constexpr AbsorptionByHead absorption_by_head;

struct AbsorptionSplitHalf : TableSchema {
  constexpr AbsorptionSplitHalf()
      : TableSchema(
            {kAbsorption, "absorption_split_half",
             "Absorption of the largest position, chosen on one half of the queries and scored on the other "
             "(calibrated; needs query groups named even and odd, without them there are no values)"}) {}
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Axis view{*this, {"view", "name", kViewMeaning}};
  Value same_percent{*this,
                     {"same_percent", "percent",
                      "chosen and scored on the same half: holds the bias of choosing the largest"}};
  Interval split_percent{
      *this,
      {"split_percent", "percent", "chosen on one half, scored on the other, mean of both ways"},
      {"bootstrap interval of split_percent over samples",
       "bootstrap interval of split_percent over samples"}};
  Value samples{*this, {"samples", "samples", "samples with a value"}};
};
inline constexpr AbsorptionSplitHalf absorption_split_half;

inline constexpr std::string_view kQueriesOfExcessMeaning =
    "whose attention: all queries, or those of the answer (generated tokens), which see nearly all keys";
inline constexpr std::string_view kExcessSelectorMeaning =
    "position_0, or top_1: the position with the largest share of that map";
inline constexpr std::string_view kExcessMeaning =
    "(share - floor) / (seen - floor): of the attention that the mask leaves free, what the position takes "
    "beyond even attention; seen is the share of queries that see it. Comparable across masks and lengths";

struct AbsorptionExcess : TableSchema {
  constexpr AbsorptionExcess()
      : TableSchema({kAbsorption, "absorption_excess",
                     "Excess share of the first and of the largest position over depth (claim C4)"}) {}
  Axis steps{*this, {"steps", "name", kStepsMeaning}};
  Axis view{*this, {"view", "name", kViewMeaning}};
  Axis queries{*this, {"queries", "name", kQueriesOfExcessMeaning}};
  Axis selector{*this, {"selector", "name", kExcessSelectorMeaning}};
  Axis depth{*this, {"depth", "name", kDepthMeaning}};
  Interval excess{*this, {"excess", "share of 1", kExcessMeaning}, kOverSamples};
  Value samples{*this, {"samples", "samples", "samples with a value"}};
};
inline constexpr AbsorptionExcess absorption_excess;

struct AbsorptionExcessByLayer : TableSchema {
  constexpr AbsorptionExcessByLayer()
      : TableSchema({kAbsorption, "absorption_excess_by_layer",
                     "Excess share of the first and of the largest position by layer"}) {}
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Axis steps{*this, {"steps", "name", kStepsMeaning}};
  Axis view{*this, {"view", "name", kViewMeaning}};
  Axis queries{*this, {"queries", "name", kQueriesOfExcessMeaning}};
  Axis selector{*this, {"selector", "name", kExcessSelectorMeaning}};
  Interval excess{*this, {"excess", "share of 1", kExcessMeaning}, kOverSamples};
  Value samples{*this, {"samples", "samples", "samples with a value"}};
};
inline constexpr AbsorptionExcessByLayer absorption_excess_by_layer;

struct AbsorptionByBlockLength : TableSchema {
  constexpr AbsorptionByBlockLength()
      : TableSchema(
            {kAbsorption, "absorption_by_block_length",
             "Excess share against the block length, of models that decode blocks: mean over the denoising "
             "steps, all layers; no others have rows"}) {}
  Axis block_length{*this, {"block_length", "positions", kBlockLengthMeaning}};
  Axis view{*this, {"view", "name", kViewMeaning}};
  Axis queries{*this, {"queries", "name", kQueriesOfExcessMeaning}};
  Axis selector{*this, {"selector", "name", kExcessSelectorMeaning}};
  Interval excess{*this, {"excess", "share of 1", kExcessMeaning}, kOverSamples};
  Value samples{*this, {"samples", "samples", "samples with a value"}};
};
inline constexpr AbsorptionByBlockLength absorption_by_block_length;

struct AbsorptionPairs : TableSchema {
  constexpr AbsorptionPairs()
      : TableSchema({kAbsorption, "absorption_pairs",
                     "Excess share, mean over layers, of one trace minus that of another (claim C4); the "
                     "questions they share are compared in pairs"}) {}
  Axis trace{*this, {"trace", "text", "label of the trace"}};
  Axis other{*this, {"other", "text", "label of the trace it is compared with"}};
  Axis steps{*this, {"steps", "name", kStepsMeaning}};
  Axis view{*this, {"view", "name", kViewMeaning}};
  Axis queries{*this, {"queries", "name", kQueriesOfExcessMeaning}};
  Axis selector{*this, {"selector", "name", kExcessSelectorMeaning}};
  Interval difference{
      *this, {"difference", "share of 1", "excess of trace minus excess of other"}, kOverSamples};
  Value samples{*this, {"samples", "samples", "samples that both traces have"}};
};
inline constexpr AbsorptionPairs absorption_pairs;

struct PublishedAbsorption : TableSchema {
  constexpr PublishedAbsorption()
      : TableSchema({kAbsorption, "published_absorption",
                     "Absorption by layer in the paper's figure, read off the picture: to be drawn over "
                     "measured curves"}) {}
  Axis model{*this, {"model", "name", "as the paper calls it"}};
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Value selector{*this, {"selector", "name", "how the paper chose the positions"}};
  Value absorbed_percent{*this, {"absorbed_percent", "percent", "mean over its samples, percent"}};
  Value tolerance{
      *this,
      {"tolerance", "percent points", "of the reading, percent points; nothing: hidden behind the legend"}};
};
inline constexpr PublishedAbsorption published_absorption;

// In the order the analysis makes them.
inline constexpr auto kAbsorptionTables = std::to_array<const TableSchema*>(
    {&absorption_published, &absorption_by_layer, &absorption_summary, &absorption_by_step,
     &absorption_by_head, &absorption_split_half, &absorption_excess, &absorption_excess_by_layer,
     &published_absorption, &absorption_by_block_length, &absorption_pairs});

}  // namespace buoy::schema
