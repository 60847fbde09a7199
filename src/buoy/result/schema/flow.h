#pragma once

#include "buoy/result/schema/common.h"

namespace buoy::schema {

inline constexpr Producer kFlow{Source::kAnalysis, "flow", "Region flow", "mass", " and data with passages"};

inline constexpr std::string_view kGoldPositionMeaning =
    "place of the gold document among the documents, from 1; several; or all";
inline constexpr std::string_view kForwardMeaning =
    "published: the forward over the finished row with the authors' regions (the answer is all generated "
    "slots, "
    "rows by their position, no template); final_row: the same forward, padding apart, rows by the token "
    "that "
    "they write; denoising_mean: mean of such rollouts of the denoising steps; denoising_last: the last of "
    "them, "
    "which still has masked slots";
inline constexpr std::string_view kPoolingMeaning =
    "sum: as published, long regions weigh more; mean: per key";

struct FlowByLayer : TableSchema {
  constexpr FlowByLayer()
      : TableSchema({kFlow, "flow_by_layer",
                     "Calibrated: one-layer attention from the answer to each kind of region, beside even "
                     "attention"}) {}
  Axis queries{
      *this,
      {"queries", "name",
       "which rows that write words of the answer: all, of those already revealed, of those still masked"}};
  Axis steps{*this, {"steps", "name", "mean over the steps, or the last step alone"}};
  Axis layer{*this, {"layer", "layer", "layer, from 0"}};
  Axis region{
      *this,
      {"region", "name",
       "kind of region that receives; padding: at or behind the end of the answer that the forward saw"}};
  Value samples{*this, {"samples", "samples", "samples that have such queries and regions"}};
  NamedInterval mass{*this,
                     {"mass", "share of 1", "share of the queries' attention, head mean, mean over samples"},
                     kEndsOverSamples};
  Value uniform{*this,
                {"uniform", "share of 1", "the same if every query spread evenly over the keys it sees"}};
  NamedInterval lift{
      *this,
      {"lift", "times even attention", "mass over uniform: length-normalised; 1 is even attention"},
      kEndsOverSamples};
};
inline constexpr FlowByLayer flow_by_layer;

struct FlowByHead : TableSchema {
  constexpr FlowByHead()
      : TableSchema(
            {kFlow, "flow_by_head",
             "Calibrated: one-layer attention from the answer to documents, per head, mean over steps"}) {}
  Axis layer{*this, {"layer", "layer", "layer, from 0"}};
  Axis head{*this, {"head", "head", "query head, from 0"}};
  Value samples{*this, {"samples", "samples", "samples with documents"}};
  Value documents_mass{*this,
                       {"documents_mass", "share of 1", "share of the answer's attention on all documents"}};
  Value documents_mass_error{*this,
                             {"documents_mass_error", "share of 1", "its standard error over samples"}};
  Value documents_lift{
      *this, {"documents_lift", "times even attention", "that over what even attention gives; 1 is even"}};
  Value gold_samples{*this, {"gold_samples", "samples", "samples with a gold document"}};
  Value gold_mass{*this, {"gold_mass", "share of 1", "share of the answer's attention on gold documents"}};
  Value gold_mass_error{*this, {"gold_mass_error", "share of 1", "its standard error over samples"}};
  Value gold_lift{
      *this,
      {"gold_lift", "times even attention", "gold mass over what even attention gives, mean over samples"}};
  Value gold_lift_error{*this,
                        {"gold_lift_error", "times even attention", "its standard error over samples"}};
  Value distractor_lift{*this,
                        {"distractor_lift", "times even attention", "the same for the other documents"}};
  Value gold_excess{*this,
                    {"gold_excess", "times even attention",
                     "gold lift minus distractor lift, mean over samples; 0 if gold is like the others"}};
  Value gold_excess_error{*this,
                          {"gold_excess_error", "times even attention", "its standard error over samples"}};
};
inline constexpr FlowByHead flow_by_head;

struct FlowGoldByLayer : TableSchema {
  constexpr FlowGoldByLayer()
      : TableSchema({kFlow, "flow_gold_by_layer",
                     "Calibrated: does the answer attend to the gold document more than to the others, "
                     "wherever it is?"}) {}
  Axis gold_position{*this, {"gold_position", "name", kGoldPositionMeaning}};
  Axis layer{*this, {"layer", "layer", "layer, from 0"}};
  Value samples{*this, {"samples", "samples", "samples with a gold document and others"}};
  Value gold_mass{*this,
                  {"gold_mass", "share of 1",
                   "share of the answer's attention on gold documents, mean over steps and heads"}};
  NamedInterval gold_lift{*this,
                          {"gold_lift", "times even attention", "gold mass over what even attention gives"},
                          kEndsOverSamples};
  NamedInterval distractor_lift{
      *this,
      {"distractor_lift", "times even attention", "the same for all other documents together"},
      kEndsOverSamples};
  NamedInterval gold_over_distractors{
      *this,
      {"gold_over_distractors", "ratio",
       "gold lift over distractor lift, length-normalised; 1 if gold is like the others"},
      kEndsOverSamples};
};
inline constexpr FlowGoldByLayer flow_gold_by_layer;

struct FlowGoldByRollout : TableSchema {
  constexpr FlowGoldByRollout()
      : TableSchema({kFlow, "flow_gold_by_rollout",
                     "Gold against the other documents in the answer's row of the rollout (published: "
                     "forward published, sum, all layers)"}) {}
  Axis gold_position{*this, {"gold_position", "name", kGoldPositionMeaning}};
  Axis forward{*this, {"forward", "name", kForwardMeaning}};
  Axis pooling{*this, {"pooling", "name", "sum: as published, long documents weigh more; mean: per key"}};
  Axis layers{*this, {"layers", "layers", "how many layers, the last k observed"}};
  Value samples{*this, {"samples", "samples", "samples with a gold document and others"}};
  Value gold{*this, {"gold", "share of 1", "flow to a gold document, mean over samples"}};
  Value distractor{*this, {"distractor", "share of 1", "flow to another document, mean over them"}};
  NamedInterval ratio{
      *this, {"ratio", "ratio", "gold over distractor: the published reading"}, kEndsOverSamples};
  Value uniform_ratio{
      *this, {"uniform_ratio", "ratio", "null: the same for even attention, same lengths, mask and depth"}};
  Value ratio_over_uniform{
      *this, {"ratio_over_uniform", "ratio", "ratio over its null; 1 if gold is like the others"}};
  Value paper_llada{
      *this, {"paper_llada", "ratio", "published for LLaDA with sum and 32 layers (read off a figure)"}};
};
inline constexpr FlowGoldByRollout flow_gold_by_rollout;

struct FlowRollout : TableSchema {
  constexpr FlowRollout()
      : TableSchema({kFlow, "flow_rollout",
                     "Attention rollout over the last k layers (published: forward published, pooling "
                     "sum, all layers), beside its null"}) {}
  Axis forward{*this, {"forward", "name", kForwardMeaning}};
  Axis pooling{*this, {"pooling", "name", kPoolingMeaning}};
  Axis layers{*this, {"layers", "layers", "how many layers, the last k observed"}};
  Value all_layers{
      *this,
      {"all_layers", "name", "yes: all observed layers, whole matrix; no: truncated, the answer's row"}};
  Axis from{*this, {"from", "text", "region that gives"}};
  Axis to{*this, {"to", "text", "region that receives"}};
  Value samples{*this, {"samples", "samples", "samples that have both regions"}};
  Value flow{*this,
             {"flow", "share of 1", "rollout R = M[L-1]...M[L-k], M = rownorm(P + I), mean over samples"}};
  Value flow_error{*this, {"flow_error", "share of 1", "its standard error over samples"}};
  Value uniform{
      *this,
      {"uniform", "share of 1", "null: the same pipeline on even attention, same regions, mask and depth"}};
  Value ratio{*this, {"ratio", "ratio", "flow over uniform; nothing where uniform is below 0.0005"}};
};
inline constexpr FlowRollout flow_rollout;

struct FlowMatrix : TableSchema {
  constexpr FlowMatrix()
      : TableSchema({kFlow, "flow_matrix",
                     "Region-to-region attention by layer, head mean, mean over steps and samples; rows of "
                     "the queries traced"}) {}
  Axis layer{*this, {"layer", "layer", "layer, from 0"}};
  Axis pooling{*this, {"pooling", "name", kPoolingMeaning}};
  Axis from{*this, {"from", "text", "region that gives"}};
  Axis to{*this, {"to", "text", "region that receives"}};
  Value samples{*this, {"samples", "samples", "samples that have both regions"}};
  Value mass{*this, {"mass", "share of 1", "share of the row"}};
  Value uniform{*this,
                {"uniform", "share of 1", "the same for even attention with these regions and this mask"}};
};
inline constexpr FlowMatrix flow_matrix;

struct FlowSamples : TableSchema {
  constexpr FlowSamples() : TableSchema({kFlow, "flow_samples", "What the region flow rests on"}) {}
  Axis what{*this, {"what", "name", "what was counted"}};
  Value samples{*this, {"samples", "samples", "how many samples"}};
};
inline constexpr FlowSamples flow_samples;

// In the order the analysis makes them.
inline constexpr auto kFlowTables =
    std::to_array<const TableSchema*>({&flow_by_layer, &flow_by_head, &flow_gold_by_layer,
                                       &flow_gold_by_rollout, &flow_rollout, &flow_matrix, &flow_samples});

}  // namespace buoy::schema
