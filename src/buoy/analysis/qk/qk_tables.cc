#include <fmt/format.h>

#include <algorithm>

#include "buoy/analysis/core/interval_cells.h"
#include "buoy/analysis/qk/qk_sums.h"
#include "buoy/stats/not_a_number.h"

namespace buoy::analysis {
namespace {

constexpr double kRotationTolerance = 2e-3;  // float16 storage of both sides

struct ContrastColumn {
  Contrast contrast;
  const char *name, *meaning;
};
constexpr std::array kPlain = {
    ContrastColumn{kFloatingColumns, "floating_columns", "columns in the set, where there are any"},
    ContrastColumn{kDotFloating, "dot_floating",
                   "mean q.k of floating columns, not divided by sqrt(head size)"},
    ContrastColumn{kDotOther, "dot_other", "the same of the other columns"},
    ContrastColumn{kCosineFloating, "cosine_floating", "mean cos(q, k) of floating columns"},
    ContrastColumn{kCosineOther, "cosine_other", "the same of the others"},
    ContrastColumn{kNormFloating, "norm_floating", "mean |q||k| of floating columns"},
    ContrastColumn{kNormOther, "norm_other", "the same of the others"},
    ContrastColumn{kScaleAtOthers, "scale_at_others", "exact split: (N_F - N_O) C_O"},
    ContrastColumn{kDirectionAtOthers, "direction_at_others", "exact split: N_O (C_F - C_O)"},
    ContrastColumn{kBoth, "both", "exact split: (N_F - N_O)(C_F - C_O); residual completes the sum"},
    ContrastColumn{kZDot, "z_dot", "floating minus others in deviations of the others' q.k columns"},
    ContrastColumn{kZCosine, "z_cosine", "the same of cos(q, k)"},
    ContrastColumn{kZNorm, "z_norm", "the same of |q||k|"},
    ContrastColumn{kRankDot, "rank_dot", "rank of the most attended floating column: 0 largest, 1 smallest"},
    ContrastColumn{kRankCosine, "rank_cosine", "likewise"},
    ContrastColumn{kRankNorm, "rank_norm", "likewise"},
    ContrastColumn{kLogNorm, "log_norm", "mean log |q||k| of floating columns minus that of the others"},
    ContrastColumn{kLogAdvantage, "log_advantage", "log(S_F / S_O), only where all of S and C are positive"},
    ContrastColumn{kLogScale, "log_scale", "log(N_F / N_O), likewise"},
    ContrastColumn{kLogDirection, "log_direction", "log(C_F / C_O), likewise; the rest is residual"},
};

const std::vector<Column> kSetColumns = {{"set",
                                          "floating columns: three_sigma_head (of this head's attention), "
                                          "three_sigma_head_mean, top_1, and of causal "
                                          "layers three_sigma_lift (attention over even attention); 2_sigma "
                                          "for three_sigma with that epsilon"},
                                         {"stage", "after or before the rotary encoding"}};

double fraction(double part, double advantage) {
  return advantage > 0 ? part / advantage : stats::kNan;
}

}  // namespace

std::string way_name(std::int64_t way, const RuleOptions& rules) {
  if (way == kTopOne) return rule_name(Rule::kTop1, rules);
  if (way == kThreeSigmaLift) return rule_name(Rule::kThreeSigmaLift, rules);
  return rule_name(Rule::kThreeSigma, rules) + (way == kThreeSigmaHead ? "_head" : "_head_mean");
}

Table QkSums::by_layer() const {
  Table table{
      "qk_by_layer",
      "Calibrated: what floating columns have over the others, per head, mean over heads, steps and samples",
      {{"layer", "layer, from 0"}},
      {}};
  auto& columns = table.columns;
  columns.insert(columns.end(), kSetColumns.begin(), kSetColumns.end());
  columns.push_back({"samples", "samples with floating columns in the layer"});
  columns.push_back({"defined", "share of heads and steps in which the set is not empty"});
  add_interval_columns(columns, "advantage", "S_F - S_O in q.k, not divided by sqrt(head size)");
  columns.push_back({"advantage_logit", "advantage / sqrt(head size): as the softmax sees it"});
  add_interval_columns(columns, "scale", "order-free part due to length: (N_F - N_O)(C_F + C_O)/2");
  add_interval_columns(columns, "direction", "order-free part due to angle: (C_F - C_O)(N_F + N_O)/2");
  add_interval_columns(columns, "residual", "covariance of length and angle: exact rest");
  add_interval_columns(columns, "fraction_angle", "direction / advantage, of the means");
  add_interval_columns(columns, "fraction_scale", "scale / advantage, of the means");
  add_interval_columns(columns, "fraction_residual", "residual / advantage, of the means");
  for (const auto& plain : kPlain) columns.push_back({plain.name, plain.meaning});
  for (std::int64_t g = 0; g < layers_ * kWays * kStages; ++g) {
    const std::int64_t stats = g * kLayerCells, terms = g * kTerms;
    if (layer_.count(stats + kContrasts) == 0) continue;
    const stats::Estimate advantage = terms_.interval(terms + kTermAdvantage);
    std::vector<Cell> row = {g / (kWays * kStages), way_name(g / kStages % kWays, rules_),
                             kStageNames[static_cast<size_t>(g % kStages)], advantage.samples,
                             number_cell(layer_.mean(stats + kContrasts))};
    add_interval_cells(row, advantage);
    row.push_back(number_cell(advantage.value / root_));
    for (const auto term : {kTermScale, kTermDirection, kTermResidual})
      add_interval_cells(row, terms_.interval(terms + term));
    for (const auto term : {kTermDirection, kTermScale, kTermResidual})
      add_interval_cells(row, terms_.ratio(terms + term, terms_, terms + kTermAdvantage));
    for (const auto& plain : kPlain) row.push_back(number_cell(layer_.mean(stats + plain.contrast)));
    table.add(std::move(row));
  }
  return table;
}

Table QkSums::by_head() const {
  Table table{"qk_by_head",
              "Calibrated: the same for every head, mean over steps and samples",
              {{"layer", "layer, from 0"}, {"head", "query head, from 0"}},
              {}};
  auto& columns = table.columns;
  columns.insert(columns.end(), kSetColumns.begin(), kSetColumns.end());
  columns.push_back({"samples", "samples in which the head has floating columns"});
  columns.push_back({"advantage", "S_F - S_O in q.k, not divided by sqrt(head size)"});
  columns.push_back({"advantage_error", "its standard error over samples"});
  columns.push_back({"scale", "order-free part due to length"});
  columns.push_back({"scale_error", "its standard error over samples"});
  columns.push_back({"direction", "order-free part due to angle"});
  columns.push_back({"direction_error", "its standard error over samples"});
  columns.push_back({"residual", "exact rest"});
  columns.push_back({"residual_error", "its standard error over samples"});
  columns.push_back(
      {"fraction_angle", "direction / advantage, of the means; nothing where there is no advantage"});
  columns.push_back({"fraction_scale", "scale / advantage, likewise"});
  for (const auto& plain : kPlain) columns.push_back({plain.name, plain.meaning});
  for (std::int64_t i = 0; i < layers_ * heads_ * kWays * kStages; ++i) {
    const std::int64_t cell = i * kContrasts, head = i / (kWays * kStages);
    if (head_.count(cell + kAdvantage) == 0) continue;
    std::vector<Cell> row = {head / heads_, head % heads_, way_name(i / kStages % kWays, rules_),
                             kStageNames[static_cast<size_t>(i % kStages)], head_.count(cell + kAdvantage)};
    for (const auto contrast : {kAdvantage, kScale, kDirection, kResidual}) {
      row.push_back(number_cell(head_.mean(cell + contrast)));
      row.push_back(number_cell(head_.error(cell + contrast)));
    }
    const double advantage = head_.mean(cell + kAdvantage);
    row.push_back(number_cell(fraction(head_.mean(cell + kDirection), advantage)));
    row.push_back(number_cell(fraction(head_.mean(cell + kScale), advantage)));
    for (const auto& plain : kPlain) row.push_back(number_cell(head_.mean(cell + plain.contrast)));
    table.add(std::move(row));
  }
  return table;
}

Table QkSums::by_step() const {
  Table table{"qk_by_step",
              fmt::format("Calibrated: the split by step and layer ({}, after the rotation), mean over heads",
                          way_name(kThreeSigmaHead, rules_)),
              {{"step", "denoising step, from 0"},
               {"layer", "layer, from 0"},
               {"samples", "samples with floating columns there"},
               {"floating_columns", "columns in the set, where there are any"},
               {"advantage", "S_F - S_O in q.k, not divided by sqrt(head size)"},
               {"advantage_error", "its standard error over samples"},
               {"scale", "order-free part due to length"},
               {"direction", "order-free part due to angle"},
               {"residual", "exact rest"},
               {"fraction_angle", "direction / advantage, of the means"}},
              {}};
  for (const auto& [step, of] : steps_) {
    for (std::int64_t l = 0; l < layers_; ++l) {
      const std::int64_t cell = l * kStepCells;
      if (of.count(cell) == 0) continue;
      table.add({std::int64_t{step}, l, of.count(cell), of.mean(cell), of.mean(cell + 1),
                 number_cell(of.error(cell + 1)), of.mean(cell + 2), of.mean(cell + 3), of.mean(cell + 4),
                 number_cell(fraction(of.mean(cell + 3), of.mean(cell + 1)))});
    }
  }
  return table;
}

Table QkSums::depth() const {
  std::vector<DepthSeries> all;
  for (std::int64_t way = 0; way < kWays; ++way) {
    for (std::int64_t stage = 0; stage < kStages; ++stage) {
      DepthSeries one{way_name(way, rules_), kStageNames[static_cast<size_t>(stage)], {}, {}, 0};
      for (std::int64_t l = 0; l < layers_; ++l) {
        const std::int64_t cell = group(l, way, stage) * kTerms;
        one.samples = std::max(one.samples, terms_.interval(cell).samples);
        one.layers.push_back({terms_.mean(cell + kTermAdvantage), terms_.mean(cell + kTermScale),
                              terms_.mean(cell + kTermDirection), terms_.mean(cell + kTermResidual)});
        std::array<std::vector<double>, kTerms> replicates;
        for (std::int64_t t = 0; t < kTerms; ++t)
          replicates[static_cast<size_t>(t)] = terms_.replicates(cell + t);
        one.replicates.resize(replicates[0].size());
        for (size_t b = 0; b < replicates[0].size(); ++b)
          one.replicates[b].push_back(
              {replicates[0][b], replicates[1][b], replicates[2][b], replicates[3][b]});
      }
      if (one.samples > 0) all.push_back(std::move(one));
    }
  }
  return depth_table(all, terms_);
}

Table QkSums::rotation() const {
  Table table{
      "qk_rotation_check",
      "Self-check: a rotation leaves |q||k| as it is, so both sides must agree",
      {{"layer", "layer, from 0"},
       {"mean_change", "mean relative difference of |q||k| before and after, over columns, steps, samples"},
       {"largest_change", "the largest"},
       {"agrees", "yes: largest_change below 0.002 (float16 storage)"}},
      {}};
  for (std::int64_t l = 0; l < layers_; ++l) {
    if (rotation_.count(l) == 0) continue;
    const double largest = largest_change_[static_cast<size_t>(l)];
    table.add({l, rotation_.mean(l), largest, largest < kRotationTolerance ? "yes" : "no"});
  }
  return table;
}

}  // namespace buoy::analysis
