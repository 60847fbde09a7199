#include "buoy/analysis/drift/drift_tables.h"

#include <string>

#include "buoy/analysis/core/interval_cells.h"
#include "buoy/result/schema/drift.h"

namespace buoy::analysis {
namespace {

constexpr std::array<std::string_view, kDriftPositions> kPositionNames = {"all", "unmasked"};

struct ScalarName {
  std::string rule, scalar;
};

ScalarName name_of_scalar(std::int64_t scalar, const RuleOptions& options) {
  if (scalar >= kPathFrom)
    return {"", std::string(kPathScalarNames[static_cast<size_t>(scalar - kPathFrom)])};
  return {rule_name(kDriftRules[static_cast<size_t>(scalar / kSetScalars)], options),
          std::string(kSetScalarNames[static_cast<size_t>(scalar % kSetScalars)])};
}

bool is_null(std::int64_t scalar) {
  return scalar < kPathFrom && scalar % kSetScalars == kJaccardNull;
}
bool has_measured_null(std::int64_t scalar) {
  return scalar < kPathFrom && scalar % kSetScalars == kJaccard;
}
bool is_correlation(std::int64_t scalar) {
  return scalar >= kPathFrom + kStepCorrelation;
}

bool is_share(std::int64_t scalar) {
  return scalar == kPathFrom + kStatic ||
         (scalar < kPathFrom && (scalar % kSetScalars == kJaccard || scalar % kSetScalars == kPersistence));
}

// Means of correlations and of shares are such themselves.
stats::Estimate possible(const stats::Estimate& estimate, std::int64_t scalar) {
  if (is_correlation(scalar)) return stats::clipped(estimate, stats::kCorrelations);
  return is_share(scalar) ? stats::clipped(estimate, stats::kShares) : estimate;
}

// `jaccard_null`: what the random sets beside this scalar gave.
Cell null_cell(std::int64_t scalar, double jaccard_null) {
  if (has_measured_null(scalar)) return number_cell(jaccard_null);
  return is_correlation(scalar) ? Cell(0.0) : Cell();
}

Table by_layer(const LayerAxis& axis, const RuleOptions& options, const DriftState* state) {
  const auto& t = schema::drift_by_layer;
  Table table(t);
  for (std::int64_t l = 0; state != nullptr && l < axis.size(); ++l) {
    for (std::int64_t v = 0; v < kViews; ++v) {
      for (std::int64_t p = 0; p < kDriftPositions; ++p) {
        for (std::int64_t i = 0; i < kDriftScalars; ++i) {
          if (is_null(i)) continue;
          const stats::Estimate interval =
              possible(state->by_layer.interval(state->cells.at({l, v, p, i})), i);
          const double null =
              has_measured_null(i) ? state->by_layer.interval(state->cells.at({l, v, p, i + 1})).value : 0.0;
          const ScalarName name = name_of_scalar(i, options);
          table.add({{t.layer, axis.number(l)},
                     {t.view, std::string(view_name(v))},
                     {t.positions, std::string(kPositionNames[static_cast<size_t>(p)])},
                     {t.rule, name.rule},
                     {t.scalar, name.scalar},
                     {t.value, interval_cells(interval)},
                     {t.null, null_cell(i, null)},
                     {t.deviation, number_cell(interval.deviation)},
                     {t.samples, interval.samples}});
        }
      }
    }
  }
  return table;
}

Table summary(const RuleOptions& options, const DriftState* state) {
  const auto& t = schema::drift_summary;
  Table table(t);
  for (std::int64_t q = 0; state != nullptr && q < kViews * kDriftPositions * kDriftScalars; ++q) {
    const std::int64_t scalar = q % kDriftScalars, positions = q / kDriftScalars % kDriftPositions,
                       view = q / kDriftScalars / kDriftPositions;
    if (is_null(scalar)) continue;
    const ScalarName name = name_of_scalar(scalar, options);
    for (std::int64_t part = 0; part < DepthSummary::kPartCount; ++part) {
      const stats::Estimate of_part = state->depth.interval(q, part);
      const stats::Estimate i = DepthSummary::is_mean(part) ? possible(of_part, scalar) : of_part;
      const double null = has_measured_null(scalar) ? state->depth.interval(q + 1, part).value : 0.0;
      table.add({{t.view, std::string(view_name(view))},
                 {t.positions, std::string(kPositionNames[static_cast<size_t>(positions)])},
                 {t.rule, name.rule},
                 {t.scalar, name.scalar},
                 {t.depth, std::string(DepthSummary::kParts[static_cast<size_t>(part)])},
                 {t.value, interval_cells(i)},
                 {t.null, null_cell(scalar, null)},
                 {t.samples, i.samples}});
    }
  }
  return table;
}

Table by_head(const LayerAxis& axis, const RuleOptions& options, const DriftState* state) {
  const auto& t = schema::drift_by_head;
  Table table(t);
  for (std::int64_t l = 0; state != nullptr && l < axis.size(); ++l) {
    for (std::int64_t h = 0; h < axis.heads(); ++h) {
      for (std::int64_t i = 0; i < kDriftScalars; ++i) {
        if (is_null(i)) continue;
        const std::int64_t cell = state->head_cells.at({l, h, i});
        const ScalarName name = name_of_scalar(i, options);
        table.add({{t.layer, axis.number(l)},
                   {t.head, h},
                   {t.rule, name.rule},
                   {t.scalar, name.scalar},
                   {t.value, number_cell(state->by_head.mean(cell))},
                   {t.deviation, number_cell(state->by_head.deviation(cell))},
                   {t.null, null_cell(i, has_measured_null(i) ? state->by_head.mean(cell + 1) : 0.0)},
                   {t.samples, state->by_head.count(cell)}});
      }
    }
  }
  return table;
}

Table order(const DriftState* state) {
  const auto& t = schema::drift_order;
  Table table(t);
  if (state == nullptr) return table;
  const stats::Estimate i = stats::clipped(state->order.interval(0), stats::kCorrelations);
  table.add({{t.scalar, "reveal_order"}, {t.value, interval_cells(i)}, {t.samples, i.samples}});
  return table;
}

}  // namespace

Table drift_by_block_length(const RuleOptions& options, const DriftState* state) {
  const auto& t = schema::drift_by_block_length;
  Table table(t);
  if (state == nullptr || !state->block_length) return table;
  static_assert(kHeadMean == 0 && kAllPositions == 0);  // the first quantities are theirs
  constexpr std::int64_t kAllLayers = 0;                // of DepthSummary::kParts
  for (std::int64_t scalar = 0; scalar < kDriftScalars; ++scalar) {
    if (is_null(scalar)) continue;
    const stats::Estimate i = possible(state->depth.interval(scalar, kAllLayers), scalar);
    const double null = has_measured_null(scalar) ? state->depth.interval(scalar + 1, kAllLayers).value : 0.0;
    const ScalarName name = name_of_scalar(scalar, options);
    table.add({{t.block_length, *state->block_length},
               {t.rule, name.rule},
               {t.scalar, name.scalar},
               {t.value, interval_cells(i)},
               {t.null, null_cell(scalar, null)},
               {t.samples, i.samples}});
  }
  return table;
}

DriftState::DriftState(const LayerAxis& axis, const AnalysisOptions& options)
    : cells({axis.size(), kViews, kDriftPositions, kDriftScalars}),
      head_cells({axis.size(), axis.heads(), kDriftScalars}),
      sample(cells.size()),
      by_layer(cells.size(), options.bootstrap),
      by_head(head_cells.size()),
      depth(kViews * kDriftPositions * kDriftScalars, options.bootstrap),
      order(1, options.bootstrap) {}

void DriftState::take(const Series& series, const std::array<double, kDriftScalars>& scalars) {
  for (std::int64_t i = 0; i < kDriftScalars; ++i) {
    const double value = scalars[static_cast<size_t>(i)];
    sample.add(cells.at({series.layer, series.head < 0 ? kHeadMean : kPerHead, series.positions, i}), value);
    if (series.head >= 0 && series.positions == kAllPositions)
      by_head.add(head_cells.at({series.layer, series.head, i}), value);
  }
}

void DriftState::add_sample(std::string_view id, const LayerAxis& axis, double reveal_order) {
  by_layer.add(id, sample.means());
  std::vector<double> profiles;
  for (std::int64_t v = 0; v < kViews; ++v) {
    for (std::int64_t p = 0; p < kDriftPositions; ++p) {
      for (std::int64_t i = 0; i < kDriftScalars; ++i) {
        for (std::int64_t l = 0; l < axis.size(); ++l)
          profiles.push_back(sample.mean(cells.at({l, v, p, i})));
      }
    }
  }
  depth.add(id, axis, profiles);
  order.add(id, std::vector<double>{reveal_order});
  sample.reset();
}

std::vector<Table> drift_tables(const LayerAxis& axis, const RuleOptions& rules, const DriftState* state) {
  return {by_layer(axis, rules, state), summary(rules, state), by_head(axis, rules, state), order(state)};
}

}  // namespace buoy::analysis
