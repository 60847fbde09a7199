#pragma once

#include "buoy/result/schema/common.h"

namespace buoy::schema {

inline constexpr Producer kFloating{Source::kAnalysis, "floating", "Floating tokens", "received", ""};

inline constexpr std::string_view kRuleMeaning =
    "detection rule; three_sigma and additive are the published ones, the others calibrated, as are those of "
    "another epsilon (2_sigma) (docs/analyses.md)";
inline constexpr std::string_view kNullSetSizeMeaning =
    "positions the rule selects when attention is uniform over the visible keys";
inline constexpr std::string_view kHeldShareMeaning = "share of received attention the set holds, of 1";

struct FloatingByLayer : TableSchema {
  constexpr FloatingByLayer()
      : TableSchema({kFloating, "floating_by_layer",
                     "Floating tokens by layer: size of the set and attention it holds, for the published "
                     "and the calibrated rules, each beside the same rule on uniform attention"}) {}
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Axis view{*this, {"view", "name", kViewMeaning}};
  Axis rule{*this, {"rule", "name", kRuleMeaning}};
  Value estimator{*this, {"estimator", "name", "published or calibrated"}};
  NamedInterval set_size{
      *this,
      {"set_size", "positions", "positions selected, mean over steps (and heads), then over samples"},
      kOverSamples};
  Value null_set_size{*this, {"null_set_size", "positions", kNullSetSizeMeaning}};
  NamedInterval share{*this, {"share", "share of 1", kHeldShareMeaning}, kOverSamples};
  Value null_share{*this, {"null_share", "share of 1", "the same on uniform attention"}};
  Value fires{*this,
              {"fires", "share of 1",
               "share of steps (and heads) in which the rule itself selects anything; additive: before it "
               "falls back to the largest"}};
  Value undefined{*this,
                  {"undefined", "share of 1",
                   "share of steps (and heads) in which the rule has no meaning: three sigma in rows too "
                   "short for it (10 or fewer), robust with a MAD of 0"}};
  Value samples{*this, {"samples", "samples", "samples with a value"}};
};
inline constexpr FloatingByLayer floating_by_layer;

struct FloatingConcentration : TableSchema {
  constexpr FloatingConcentration()
      : TableSchema({kFloating, "floating_concentration",
                     "Concentration of received attention by layer, without any threshold (calibrated), "
                     "beside uniform attention"}) {}
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Axis view{*this, {"view", "name", kViewMeaning}};
  Axis measure{*this,
               {"measure", "name",
                "entropy (nats); anchor_count: 1 / sum of squared shares; top_share: of the largest "
                "position; margin: of the largest over the second"}};
  Interval value{
      *this, {"value", "as the measure", "mean over steps (and heads), then over samples"}, kOverSamples};
  Value null{*this, {"null", "as the measure", "of uniform attention with the same mask and length"}};
  Value samples{*this, {"samples", "samples", "samples with a value"}};
};
inline constexpr FloatingConcentration floating_concentration;

struct FloatingDepth : TableSchema {
  constexpr FloatingDepth()
      : TableSchema({kFloating, "floating_depth",
                     "Do anchors get fewer and sharper with depth (claim C2)? Set sizes and concentration "
                     "over depth"}) {}
  Axis quantity{*this, {"quantity", "name", "set_size of a rule, or a measure of floating_concentration"}};
  Axis rule{*this, {"rule", "name", "the rule, empty for measures"}};
  Axis view{*this, {"view", "name", kViewMeaning}};
  Axis depth{*this, {"depth", "name", kDepthMeaning}};
  Interval value{*this, {"value", "as the quantity", "mean over samples"}, kOverSamples};
  Value samples{*this, {"samples", "samples", "samples with a value"}};
};
inline constexpr FloatingDepth floating_depth;

struct FloatingByStep : TableSchema {
  constexpr FloatingByStep()
      : TableSchema(
            {kFloating, "floating_by_step", "Floating tokens by layer and time in the denoising run"}) {}
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Axis step_bin{*this, {"step_bin", "eighth of the run", kStepBinMeaning}};
  Axis view{*this, {"view", "name", kViewMeaning}};
  Axis rule{*this, {"rule", "name", kRuleMeaning}};
  Value set_size{*this,
                 {"set_size", "positions", "positions selected, mean over the steps in the bin and samples"}};
  Value set_size_deviation{
      *this,
      {"set_size_deviation", "positions", "population standard deviation over steps, heads and samples"}};
  Value share{*this, {"share", "share of 1", kHeldShareMeaning}};
  Value share_deviation{
      *this,
      {"share_deviation", "share of 1", "population standard deviation over steps, heads and samples"}};
  Value maps{*this, {"maps", "maps", kMapsMeaning}};
};
inline constexpr FloatingByStep floating_by_step;

struct FloatingByHead : TableSchema {
  constexpr FloatingByHead()
      : TableSchema(
            {kFloating, "floating_by_head",
             "Floating tokens of every head (calibrated), beside the same rule on uniform attention"}) {}
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Axis head{*this, {"head", "head", "query head"}};
  Axis rule{*this, {"rule", "name", kRuleMeaning}};
  Value set_size{*this, {"set_size", "positions", "positions selected, mean over steps and samples"}};
  Value set_size_deviation{*this, {"set_size_deviation", "positions", kDeviationMeaning}};
  Value null_set_size{*this, {"null_set_size", "positions", kNullSetSizeMeaning}};
  Value share{*this, {"share", "share of 1", kHeldShareMeaning}};
  Value share_deviation{*this, {"share_deviation", "share of 1", kDeviationMeaning}};
  Value fires{*this, {"fires", "share of 1", "share of maps in which the rule itself selects anything"}};
  Value maps{*this, {"maps", "maps", "maps (steps times samples) with a value"}};
};
inline constexpr FloatingByHead floating_by_head;

struct FloatingComposition : TableSchema {
  constexpr FloatingComposition()
      : TableSchema(
            {kFloating, "floating_composition",
             "What floating tokens are, by layer: share of each class among them, and among all positions"}) {
  }
  Axis layer{*this, {"layer", "layer", "layer of the model"}};
  Axis view{*this, {"view", "name", kViewMeaning}};
  Axis rule{*this, {"rule", "name", kRuleMeaning}};
  Axis dimension{
      *this,
      {"dimension", "name",
       "type of token; kind (structural, content, mask, padding); state; age in steps since it was revealed; "
       "position relative to the length of the row"}};
  Axis token_class{*this, {"class", "name", "one class of it"}};
  Interval share{*this, {"share", "share of 1", kFloatingShareMeaning}, kOverSamples};
  Value base{*this, {"base", "share of 1", kRandomBaseMeaning}};
  Value lift{*this, {"lift", "ratio", "share / base"}};
  Value samples{*this, {"samples", "samples", "samples in which the rule selected anything"}};
};
inline constexpr FloatingComposition floating_composition;

struct FloatingTokens : TableSchema {
  constexpr FloatingTokens()
      : TableSchema({kFloating, "floating_tokens",
                     "The tokens selected most often, over all layers, steps and samples"}) {}
  Axis view{*this, {"view", "name", kViewMeaning}};
  Axis rule{*this, {"rule", "name", kRuleMeaning}};
  Axis rank{*this, {"rank", "rank", "1: the most frequent"}};
  Value token{*this, {"token", "text", "its text; (mask) while masked"}};
  Value type{*this, {"type", "name", "type of token"}};
  Value share{*this, {"share", "share of 1", "of all that the rule selected"}};
  Value base{*this, {"base", "share of 1", "share of the token among all positions and steps"}};
  Value lift{*this, {"lift", "ratio", "share / base"}};
};
inline constexpr FloatingTokens floating_tokens;

// In the order the analysis makes them.
inline constexpr auto kFloatingTables = std::to_array<const TableSchema*>(
    {&floating_by_layer, &floating_concentration, &floating_depth, &floating_by_step, &floating_by_head,
     &floating_composition, &floating_tokens});

}  // namespace buoy::schema
