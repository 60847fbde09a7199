#include "buoy/analysis/drift/drift_tables.h"

#include <string>

namespace buoy::analysis {
namespace {

constexpr std::array<std::string_view, kDriftPositions> kPositionNames = {"all", "unmasked"};
const std::string kScalarMeaning =
    "jaccard: of the sets of consecutive steps, pairs with both empty left out; skipped_pairs: share of "
    "those; "
    "persistence: longest run of one position in the set over the number of steps; set_size; moves, "
    "mean_distance, "
    "total_distance: of the largest position; static: 1 when it never moves; spearman_step: of its position "
    "with "
    "the step; spearman_frontier, spearman_committed: with the number of leading unmasked slots and the mean "
    "position revealed; spearman_step_given_...: with the step, that held fixed (undefined when unmasking is "
    "strictly left to right)";
const std::string kPositionsMeaning = "all positions, or only those already unmasked at the step";
const std::string kRuleText =
    "of the set: three_sigma is the published rule; empty for the path of the largest";
const std::string kNullMeaning =
    "what nothing but chance gives: jaccard of random sets of the same sizes, 0 for correlations";

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

// `jaccard_null`: what the random sets beside this scalar gave.
Cell null_cell(std::int64_t scalar, double jaccard_null) {
  if (has_measured_null(scalar)) return number_cell(jaccard_null);
  return is_correlation(scalar) ? Cell(0.0) : Cell();
}

Table by_layer(const LayerAxis& axis, const RuleOptions& options, const DriftState* state) {
  Table table{"drift_by_layer",
              "Temporal drift by layer: scalars per sample (calibrated; the paper has a picture only)",
              {{"layer", "layer of the model"},
               {"view", std::string(kViewMeaning)},
               {"positions", kPositionsMeaning},
               {"rule", kRuleText},
               {"scalar", kScalarMeaning},
               {"value", "mean over samples (and heads) in which it is defined"},
               {"lower", "bootstrap interval over samples"},
               {"upper", "bootstrap interval over samples"},
               {"null", kNullMeaning},
               {"deviation", "population standard deviation over samples"},
               {"samples", "samples in which it is defined"}},
              {}};
  for (std::int64_t l = 0; state != nullptr && l < axis.size(); ++l) {
    for (std::int64_t v = 0; v < kViews; ++v) {
      for (std::int64_t p = 0; p < kDriftPositions; ++p) {
        for (std::int64_t i = 0; i < kDriftScalars; ++i) {
          if (is_null(i)) continue;
          const stats::Estimate interval = state->by_layer.interval(state->cells.at({l, v, p, i}));
          const double null =
              has_measured_null(i) ? state->by_layer.interval(state->cells.at({l, v, p, i + 1})).value : 0.0;
          const ScalarName name = name_of_scalar(i, options);
          table.add({axis.number(l), std::string(view_name(v)),
                     std::string(kPositionNames[static_cast<size_t>(p)]), name.rule, name.scalar,
                     number_cell(interval.value), number_cell(interval.lower), number_cell(interval.upper),
                     null_cell(i, null), number_cell(interval.deviation), interval.samples});
        }
      }
    }
  }
  return table;
}

Table summary(const RuleOptions& options, const DriftState* state) {
  Table table{
      "drift_summary",
      "Temporal drift over depth (claim C1: spearman_step above 0, and above 0 with the frontier held "
      "fixed)",
      {{"view", std::string(kViewMeaning)},
       {"positions", kPositionsMeaning},
       {"rule", kRuleText},
       {"scalar", kScalarMeaning},
       {"depth", std::string(DepthSummary::kMeaning)},
       {"value", "mean over samples of the mean over layers"},
       {"lower", "bootstrap interval over samples"},
       {"upper", "bootstrap interval over samples"},
       {"null", kNullMeaning},
       {"samples", "samples in which it is defined"}},
      {}};
  for (std::int64_t q = 0; state != nullptr && q < kViews * kDriftPositions * kDriftScalars; ++q) {
    const std::int64_t scalar = q % kDriftScalars, positions = q / kDriftScalars % kDriftPositions,
                       view = q / kDriftScalars / kDriftPositions;
    if (is_null(scalar)) continue;
    const ScalarName name = name_of_scalar(scalar, options);
    for (std::int64_t part = 0; part < DepthSummary::kPartCount; ++part) {
      const stats::Estimate i = state->depth.interval(q, part);
      const double null = has_measured_null(scalar) ? state->depth.interval(q + 1, part).value : 0.0;
      table.add({std::string(view_name(view)), std::string(kPositionNames[static_cast<size_t>(positions)]),
                 name.rule, name.scalar, std::string(DepthSummary::kParts[static_cast<size_t>(part)]),
                 number_cell(i.value), number_cell(i.lower), number_cell(i.upper), null_cell(scalar, null),
                 i.samples});
    }
  }
  return table;
}

Table by_head(const LayerAxis& axis, const RuleOptions& options, const DriftState* state) {
  Table table{"drift_by_head",
              "Temporal drift of every head, all positions (calibrated)",
              {{"layer", "layer of the model"},
               {"head", "query head"},
               {"rule", kRuleText},
               {"scalar", kScalarMeaning},
               {"value", "mean over samples in which it is defined"},
               {"deviation", "population standard deviation over samples"},
               {"null", kNullMeaning},
               {"samples", "samples in which it is defined"}},
              {}};
  for (std::int64_t l = 0; state != nullptr && l < axis.size(); ++l) {
    for (std::int64_t h = 0; h < axis.heads(); ++h) {
      for (std::int64_t i = 0; i < kDriftScalars; ++i) {
        if (is_null(i)) continue;
        const std::int64_t cell = state->head_cells.at({l, h, i});
        const ScalarName name = name_of_scalar(i, options);
        table.add({axis.number(l), h, name.rule, name.scalar, number_cell(state->by_head.mean(cell)),
                   number_cell(state->by_head.deviation(cell)),
                   null_cell(i, has_measured_null(i) ? state->by_head.mean(cell + 1) : 0.0),
                   state->by_head.count(cell)});
      }
    }
  }
  return table;
}

Table order(const DriftState* state) {
  Table table{
      "drift_order",
      "The order of unmasking: tells left-to-right and random-order controls from the model's own order",
      {{"scalar",
        "reveal_order: Spearman of position and step over generated tokens; 1 left to right, "
        "about 0 in random order"},
       {"value", "mean over samples"},
       {"lower", "bootstrap interval over samples"},
       {"upper", "bootstrap interval over samples"},
       {"samples", "samples in which it is defined"}},
      {}};
  if (state == nullptr) return table;
  const stats::Estimate i = state->order.interval(0);
  table.add({"reveal_order", number_cell(i.value), number_cell(i.lower), number_cell(i.upper), i.samples});
  return table;
}

}  // namespace

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
