#include <fmt/format.h>

#include <algorithm>

#include "buoy/analysis/core/interval_cells.h"
#include "buoy/analysis/qk/qk_sums.h"
#include "buoy/result/schema/qk.h"
#include "buoy/stats/not_a_number.h"

namespace buoy::analysis {
namespace {

constexpr double kRotationTolerance = 2e-3;  // float16 storage of both sides

struct ContrastColumn {
  Contrast contrast;
  Value schema::QkContrasts::*column;
};
constexpr std::array kPlain = {
    ContrastColumn{kFloatingColumns, &schema::QkContrasts::floating_columns},
    ContrastColumn{kDotFloating, &schema::QkContrasts::dot_floating},
    ContrastColumn{kDotOther, &schema::QkContrasts::dot_other},
    ContrastColumn{kCosineFloating, &schema::QkContrasts::cosine_floating},
    ContrastColumn{kCosineOther, &schema::QkContrasts::cosine_other},
    ContrastColumn{kNormFloating, &schema::QkContrasts::norm_floating},
    ContrastColumn{kNormOther, &schema::QkContrasts::norm_other},
    ContrastColumn{kScaleAtOthers, &schema::QkContrasts::scale_at_others},
    ContrastColumn{kDirectionAtOthers, &schema::QkContrasts::direction_at_others},
    ContrastColumn{kBoth, &schema::QkContrasts::both},
    ContrastColumn{kZDot, &schema::QkContrasts::z_dot},
    ContrastColumn{kZCosine, &schema::QkContrasts::z_cosine},
    ContrastColumn{kZNorm, &schema::QkContrasts::z_norm},
    ContrastColumn{kRankDot, &schema::QkContrasts::rank_dot},
    ContrastColumn{kRankCosine, &schema::QkContrasts::rank_cosine},
    ContrastColumn{kRankNorm, &schema::QkContrasts::rank_norm},
    ContrastColumn{kLogNorm, &schema::QkContrasts::log_norm},
    ContrastColumn{kLogAdvantage, &schema::QkContrasts::log_advantage},
    ContrastColumn{kLogScale, &schema::QkContrasts::log_scale},
    ContrastColumn{kLogDirection, &schema::QkContrasts::log_direction},
};

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
  const auto& t = schema::qk_by_layer;
  Table table(t);
  for (std::int64_t g = 0; g < layers_ * kWays * kStages; ++g) {
    const std::int64_t stats = g * kLayerCells, terms = g * kTerms;
    if (layer_.count(stats + kContrasts) == 0) continue;
    const stats::Estimate advantage = terms_.interval(terms + kTermAdvantage);
    const auto term = [&](Term which) { return interval_cells(terms_.interval(terms + which)); };
    const auto share = [&](Term which) {
      return interval_cells(terms_.ratio(terms + which, terms_, terms + kTermAdvantage));
    };
    Row row = {{t.layer, g / (kWays * kStages)},
               {t.set, way_name(g / kStages % kWays, rules_)},
               {t.stage, kStageNames[static_cast<size_t>(g % kStages)]},
               {t.samples, advantage.samples},
               {t.defined, number_cell(layer_.mean(stats + kContrasts))},
               {t.advantage, interval_cells(advantage)},
               {t.advantage_logit, number_cell(advantage.value / root_)},
               {t.scale, term(kTermScale)},
               {t.direction, term(kTermDirection)},
               {t.residual, term(kTermResidual)},
               {t.fraction_angle, share(kTermDirection)},
               {t.fraction_scale, share(kTermScale)},
               {t.fraction_residual, share(kTermResidual)}};
    for (const auto& plain : kPlain)
      row.emplace_back(t.contrasts.*plain.column, number_cell(layer_.mean(stats + plain.contrast)));
    table.add(std::move(row));
  }
  return table;
}

Table QkSums::by_head() const {
  const auto& t = schema::qk_by_head;
  Table table(t);
  for (std::int64_t i = 0; i < layers_ * heads_ * kWays * kStages; ++i) {
    const std::int64_t cell = i * kContrasts, head = i / (kWays * kStages);
    if (head_.count(cell + kAdvantage) == 0) continue;
    const auto mean = [&](Contrast of) { return head_.mean(cell + of); };
    const auto error = [&](Contrast of) { return number_cell(head_.error(cell + of)); };
    Row row = {{t.layer, head / heads_},
               {t.head, head % heads_},
               {t.set, way_name(i / kStages % kWays, rules_)},
               {t.stage, kStageNames[static_cast<size_t>(i % kStages)]},
               {t.samples, head_.count(cell + kAdvantage)},
               {t.advantage, number_cell(mean(kAdvantage))},
               {t.advantage_error, error(kAdvantage)},
               {t.scale, number_cell(mean(kScale))},
               {t.scale_error, error(kScale)},
               {t.direction, number_cell(mean(kDirection))},
               {t.direction_error, error(kDirection)},
               {t.residual, number_cell(mean(kResidual))},
               {t.residual_error, error(kResidual)},
               {t.fraction_angle, number_cell(fraction(mean(kDirection), mean(kAdvantage)))},
               {t.fraction_scale, number_cell(fraction(mean(kScale), mean(kAdvantage)))}};
    for (const auto& plain : kPlain)
      row.emplace_back(t.contrasts.*plain.column, number_cell(mean(plain.contrast)));
    table.add(std::move(row));
  }
  return table;
}

Table QkSums::by_step() const {
  const auto& t = schema::qk_by_step;
  Table table(t);
  table.title =
      fmt::format("Calibrated: the split by step and layer ({}, after the rotation), mean over heads",
                  way_name(kThreeSigmaHead, rules_));
  for (const auto& [step, of] : steps_) {
    for (std::int64_t l = 0; l < layers_; ++l) {
      const std::int64_t cell = l * kStepCells;
      if (of.count(cell) == 0) continue;
      table.add({{t.step, std::int64_t{step}},
                 {t.layer, l},
                 {t.samples, of.count(cell)},
                 {t.floating_columns, of.mean(cell)},
                 {t.advantage, of.mean(cell + 1)},
                 {t.advantage_error, number_cell(of.error(cell + 1))},
                 {t.scale, of.mean(cell + 2)},
                 {t.direction, of.mean(cell + 3)},
                 {t.residual, of.mean(cell + 4)},
                 {t.fraction_angle, number_cell(fraction(of.mean(cell + 3), of.mean(cell + 1)))}});
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
  const auto& t = schema::qk_rotation_check;
  Table table(t);
  for (std::int64_t l = 0; l < layers_; ++l) {
    if (rotation_.count(l) == 0) continue;
    const double largest = largest_change_[static_cast<size_t>(l)];
    table.add({{t.layer, l},
               {t.mean_change, rotation_.mean(l)},
               {t.largest_change, largest},
               {t.agrees, largest < kRotationTolerance ? "yes" : "no"}});
  }
  return table;
}

}  // namespace buoy::analysis
