#pragma once

#include "buoy/result/schema/common.h"

namespace buoy::schema {

inline constexpr Producer kQk{Source::kAnalysis, "qk", "QK decomposition", "received,qk,norms", ""};

inline constexpr std::string_view kSetMeaning =
    "floating columns: three_sigma_head (of this head's attention), three_sigma_head_mean, top_1, and of "
    "causal layers three_sigma_lift (attention over even attention); 2_sigma for three_sigma with that "
    "epsilon";
inline constexpr std::string_view kAdvantageMeaning = "S_F - S_O in q.k, not divided by sqrt(head size)";

// Of floating columns against the others, in two tables.
struct QkContrasts {
  constexpr explicit QkContrasts(TableSchema& table) : of(table) {}
  TableSchema& of;
  Value floating_columns{of, {"floating_columns", "columns", "columns in the set, where there are any"}};
  Value dot_floating{of,
                     {"dot_floating", "q.k", "mean q.k of floating columns, not divided by sqrt(head size)"}};
  Value dot_other{of, {"dot_other", "q.k", "the same of the other columns"}};
  Value cosine_floating{of, {"cosine_floating", "cosine", "mean cos(q, k) of floating columns"}};
  Value cosine_other{of, {"cosine_other", "cosine", "the same of the others"}};
  Value norm_floating{of, {"norm_floating", "|q||k|", "mean |q||k| of floating columns"}};
  Value norm_other{of, {"norm_other", "|q||k|", "the same of the others"}};
  Value scale_at_others{of, {"scale_at_others", "q.k", "exact split: (N_F - N_O) C_O"}};
  Value direction_at_others{of, {"direction_at_others", "q.k", "exact split: N_O (C_F - C_O)"}};
  Value both{of, {"both", "q.k", "exact split: (N_F - N_O)(C_F - C_O); residual completes the sum"}};
  Value z_dot{of, {"z_dot", "deviations", "floating minus others in deviations of the others' q.k columns"}};
  Value z_cosine{of, {"z_cosine", "deviations", "the same of cos(q, k)"}};
  Value z_norm{of, {"z_norm", "deviations", "the same of |q||k|"}};
  Value rank_dot{
      of, {"rank_dot", "rank, 0 to 1", "rank of the most attended floating column: 0 largest, 1 smallest"}};
  Value rank_cosine{of, {"rank_cosine", "rank, 0 to 1", "likewise"}};
  Value rank_norm{of, {"rank_norm", "rank, 0 to 1", "likewise"}};
  Value log_norm{of, {"log_norm", "nats", "mean log |q||k| of floating columns minus that of the others"}};
  Value log_advantage{of,
                      {"log_advantage", "nats", "log(S_F / S_O), only where all of S and C are positive"}};
  Value log_scale{of, {"log_scale", "nats", "log(N_F / N_O), likewise"}};
  Value log_direction{of, {"log_direction", "nats", "log(C_F / C_O), likewise; the rest is residual"}};
};

struct QkByLayer : TableSchema {
  constexpr QkByLayer()
      : TableSchema({kQk, "qk_by_layer",
                     "Calibrated: what floating columns have over the others, per head, mean over heads, "
                     "steps and samples"}) {}
  Axis layer{*this, {"layer", "layer", "layer, from 0"}};
  Axis set{*this, {"set", "name", kSetMeaning}};
  Axis stage{*this, {"stage", "name", "after or before the rotary encoding"}};
  Value samples{*this, {"samples", "samples", "samples with floating columns in the layer"}};
  Value defined{*this, {"defined", "share of 1", "share of heads and steps in which the set is not empty"}};
  NamedInterval advantage{*this, {"advantage", "q.k", kAdvantageMeaning}, kEndsOverSamples};
  Value advantage_logit{*this,
                        {"advantage_logit", "logit", "advantage / sqrt(head size): as the softmax sees it"}};
  NamedInterval scale{
      *this, {"scale", "q.k", "order-free part due to length: (N_F - N_O)(C_F + C_O)/2"}, kEndsOverSamples};
  NamedInterval direction{*this,
                          {"direction", "q.k", "order-free part due to angle: (C_F - C_O)(N_F + N_O)/2"},
                          kEndsOverSamples};
  NamedInterval residual{
      *this, {"residual", "q.k", "covariance of length and angle: exact rest"}, kEndsOverSamples};
  NamedInterval fraction_angle{
      *this, {"fraction_angle", "ratio", "direction / advantage, of the means"}, kEndsOverSamples};
  NamedInterval fraction_scale{
      *this, {"fraction_scale", "ratio", "scale / advantage, of the means"}, kEndsOverSamples};
  NamedInterval fraction_residual{
      *this, {"fraction_residual", "ratio", "residual / advantage, of the means"}, kEndsOverSamples};
  QkContrasts contrasts{*this};
};
inline constexpr QkByLayer qk_by_layer;

struct QkByHead : TableSchema {
  constexpr QkByHead()
      : TableSchema({kQk, "qk_by_head", "Calibrated: the same for every head, mean over steps and samples"}) {
  }
  Axis layer{*this, {"layer", "layer", "layer, from 0"}};
  Axis head{*this, {"head", "head", "query head, from 0"}};
  Axis set{*this, {"set", "name", kSetMeaning}};
  Axis stage{*this, {"stage", "name", "after or before the rotary encoding"}};
  Value samples{*this, {"samples", "samples", "samples in which the head has floating columns"}};
  Value advantage{*this, {"advantage", "q.k", kAdvantageMeaning}};
  Value advantage_error{*this, {"advantage_error", "q.k", "its standard error over samples"}};
  Value scale{*this, {"scale", "q.k", "order-free part due to length"}};
  Value scale_error{*this, {"scale_error", "q.k", "its standard error over samples"}};
  Value direction{*this, {"direction", "q.k", "order-free part due to angle"}};
  Value direction_error{*this, {"direction_error", "q.k", "its standard error over samples"}};
  Value residual{*this, {"residual", "q.k", "exact rest"}};
  Value residual_error{*this, {"residual_error", "q.k", "its standard error over samples"}};
  Value fraction_angle{*this,
                       {"fraction_angle", "ratio",
                        "direction / advantage, of the means; nothing where there is no advantage"}};
  Value fraction_scale{*this, {"fraction_scale", "ratio", "scale / advantage, likewise"}};
  QkContrasts contrasts{*this};
};
inline constexpr QkByHead qk_by_head;

struct QkByStep : TableSchema {
  constexpr QkByStep()
      : TableSchema({kQk, "qk_by_step",
                     "Calibrated: the split by step and layer (three_sigma_head, after the rotation), mean "
                     "over heads"}) {}
  Axis step{*this, {"step", "step", "denoising step, from 0"}};
  Axis layer{*this, {"layer", "layer", "layer, from 0"}};
  Value samples{*this, {"samples", "samples", "samples with floating columns there"}};
  Value floating_columns{*this, {"floating_columns", "columns", "columns in the set, where there are any"}};
  Value advantage{*this, {"advantage", "q.k", kAdvantageMeaning}};
  Value advantage_error{*this, {"advantage_error", "q.k", "its standard error over samples"}};
  Value scale{*this, {"scale", "q.k", "order-free part due to length"}};
  Value direction{*this, {"direction", "q.k", "order-free part due to angle"}};
  Value residual{*this, {"residual", "q.k", "exact rest"}};
  Value fraction_angle{*this, {"fraction_angle", "ratio", "direction / advantage, of the means"}};
};
inline constexpr QkByStep qk_by_step;

struct QkDepth : TableSchema {
  constexpr QkDepth()
      : TableSchema({kQk, "qk_depth",
                     "Calibrated: how the share of the floating advantage due to angle changes over depth "
                     "(claim C5)"}) {}
  Axis set{*this, {"set", "name", "how floating columns were chosen; see qk_by_layer"}};
  Axis stage{*this, {"stage", "name", "after or before the rotary encoding"}};
  Axis statistic{
      *this,
      {"statistic", "name",
       "slope: of a straight line fitted through the layers (least squares) over relative depth, 0 first "
       "layer, 1 last; fraction: part / advantage; angle weight: direction / (|direction| + |scale|)"}};
  Value samples{*this, {"samples", "samples", "samples with floating columns"}};
  NamedInterval value{*this, {"value", "as the statistic", "of this trace"}, kEndsOverSamples};
};
inline constexpr QkDepth qk_depth;

struct QkColumns : TableSchema {
  constexpr QkColumns()
      : TableSchema(
            {kQk, "qk_columns",
             "Column profiles of one sample, layer and head (or the mean over heads), self pairs left out"}) {
  }
  Axis sample{*this, {"sample", "text", "id of the sample"}};
  Axis step{*this, {"step", "step", "the last observed step"}};
  Axis layer{*this, {"layer", "layer", "the layer asked for, otherwise the one at 7/8 of the depth"}};
  Axis head{*this, {"head", "head", "query head, or mean: of the heads' profiles"}};
  Axis stage{*this, {"stage", "name", "after or before the rotary encoding"}};
  Axis position{*this, {"position", "position", "key position"}};
  Value token{*this, {"token", "text", "its text"}};
  Value received{*this, {"received", "share of 1", "share of attention the key receives"}};
  Value floating{*this,
                 {"floating", "name",
                  "yes: in the set the z values are taken against (three_sigma, if empty the largest)"}};
  Value dot{*this, {"dot", "q.k", "mean over the other queries of q.k, not divided by sqrt(head size)"}};
  Value cosine{*this, {"cosine", "cosine", "mean of cos(q, k)"}};
  Value norm_product{*this, {"norm_product", "|q||k|", "mean of |q||k|"}};
  Value residual{*this, {"residual", "q.k", "dot - norm_product * cosine"}};
  Value z_dot{*this,
              {"z_dot", "deviations", "distance from the columns that do not float, in their deviations"}};
  Value rank_dot{*this, {"rank_dot", "rank", "1: largest of all columns"}};
  Value z_cosine{*this, {"z_cosine", "deviations", "likewise"}};
  Value rank_cosine{*this, {"rank_cosine", "rank", "likewise"}};
  Value z_norm_product{*this, {"z_norm_product", "deviations", "likewise"}};
  Value rank_norm_product{*this, {"rank_norm_product", "rank", "likewise"}};
};
inline constexpr QkColumns qk_columns;

struct QkPairs : TableSchema {
  constexpr QkPairs()
      : TableSchema(
            {kQk,
             "qk_pairs",
             "Queries meeting keys, pair by pair, as the softmax sees them; empty unless states were traced",
             {.observe = "states"}}) {}
  Axis sample{*this, {"sample", "text", "id of the sample"}};
  Axis step{*this, {"step", "step", "the last observed step"}};
  Axis layer{*this, {"layer", "layer", "as in qk_columns"}};
  Axis head{*this, {"head", "head", "query head, or mean over heads of each number"}};
  Axis query{*this, {"query", "position", "query position, the first 128"}};
  Axis key{*this, {"key", "position", "key position, the first 128"}};
  Value dot{*this, {"dot", "q.k", "q.k, not divided by sqrt(head size)"}};
  Value cosine{*this, {"cosine", "cosine", "cos(q, k)"}};
  Value norm_product{*this, {"norm_product", "|q||k|", "|q||k|"}};
};
inline constexpr QkPairs qk_pairs;

struct QkPublished : TableSchema {
  constexpr QkPublished()
      : TableSchema(
            {kQk,
             "qk_published",
             "Published form: head-averaged query and key vectors, column means over rows 8-51 of one sample",
             {.observe = "states"}}) {}
  Axis source{*this,
              {"source", "name",
               "paper: LLaDA, read off the figure; trace: this sample (only when states were traced)"}};
  Axis layer{*this, {"layer", "layer", "layer, from 0"}};
  Axis panel{*this, {"panel", "name", "dot (no 1/sqrt(head size)), cosine or norm_product"}};
  Axis position{*this, {"position", "position", "the floating column"}};
  Value columns{*this, {"columns", "columns", "key columns"}};
  Value floating{*this, {"floating", "as the panel", "mean of the floating column over the rows"}};
  Value others{*this, {"others", "as the panel", "mean over the columns that do not float"}};
  Value others_deviation{*this, {"others_deviation", "as the panel", "population deviation over them"}};
  Value z{*this, {"z", "deviations", "floating minus others, in those deviations"}};
  Value rank{*this, {"rank", "rank", "of the floating column, 1: largest"}};
};
inline constexpr QkPublished qk_published;

struct QkRotationCheck : TableSchema {
  constexpr QkRotationCheck()
      : TableSchema({kQk, "qk_rotation_check",
                     "Self-check: a rotation leaves |q||k| as it is, so both sides must agree"}) {}
  Axis layer{*this, {"layer", "layer", "layer, from 0"}};
  Value mean_change{*this,
                    {"mean_change", "share of 1",
                     "mean relative difference of |q||k| before and after, over columns, steps, samples"}};
  Value largest_change{*this, {"largest_change", "share of 1", "the largest"}};
  Value agrees{*this, {"agrees", "name", "yes: largest_change below 0.002 (float16 storage)"}};
};
inline constexpr QkRotationCheck qk_rotation_check;

// In the order the analysis makes them.
inline constexpr auto kQkTables =
    std::to_array<const TableSchema*>({&qk_by_layer, &qk_by_head, &qk_by_step, &qk_depth, &qk_columns,
                                       &qk_pairs, &qk_published, &qk_rotation_check});

}  // namespace buoy::schema
