#include "buoy/analysis/floating/floating_tables.h"

#include <string>

#include "buoy/analysis/core/interval_cells.h"
#include "buoy/result/schema/floating.h"

namespace buoy::analysis {
namespace {

constexpr std::int64_t kTokenLines = 25;

Table by_layer(const LayerAxis& axis, const RuleOptions& options, const FloatingState* state) {
  const auto& t = schema::floating_by_layer;
  Table table(t);
  for (std::int64_t l = 0; state != nullptr && l < axis.size(); ++l) {
    for (std::int64_t v = 0; v < kViews; ++v) {
      for (std::int64_t r = 0; r < kRuleCount; ++r) {
        const Rule rule = kRules[static_cast<size_t>(r)];
        const std::int64_t cell = state->grids.rules.at({l, v, r});
        const stats::Estimate size = state->sizes.interval(cell), share = state->shares.interval(cell);
        table.add({{t.layer, axis.number(l)},
                   {t.view, std::string(view_name(v))},
                   {t.rule, rule_name(rule, options)},
                   {t.estimator, estimator_name(rule, options)},
                   {t.set_size, interval_cells(size)},
                   {t.null_set_size, number_cell(state->null_sizes.mean(r))},
                   {t.share, interval_cells(share)},
                   {t.null_share, number_cell(state->null_shares.mean(r))},
                   {t.fires, number_cell(state->fires.mean(cell))},
                   {t.undefined, number_cell(state->undefined.mean(cell))},
                   {t.samples, size.samples}});
      }
    }
  }
  return table;
}

Table concentration(const LayerAxis& axis, const FloatingState* state) {
  const auto& t = schema::floating_concentration;
  Table table(t);
  for (std::int64_t l = 0; state != nullptr && l < axis.size(); ++l) {
    for (std::int64_t v = 0; v < kViews; ++v) {
      for (std::int64_t m = 0; m < kMeasureCount; ++m) {
        const stats::Estimate i = state->measured.interval(state->grids.measures.at({l, v, m}));
        table.add({{t.layer, axis.number(l)},
                   {t.view, std::string(view_name(v))},
                   {t.measure, std::string(kMeasures[static_cast<size_t>(m)])},
                   {t.value, interval_cells(i)},
                   {t.null, number_cell(state->null_measures.mean(m))},
                   {t.samples, i.samples}});
      }
    }
  }
  return table;
}

Table over_depth(const RuleOptions& options, const FloatingState* state) {
  const auto& t = schema::floating_depth;
  Table table(t);
  for (std::int64_t q = 0; state != nullptr && q < kViews * kDepthQuantities; ++q) {
    const std::int64_t view = q / kDepthQuantities, which = q % kDepthQuantities;
    const bool rule = which < kRuleCount;
    for (std::int64_t part = 0; part < DepthSummary::kPartCount; ++part) {
      const stats::Estimate i = state->depth.interval(q, part);
      table.add(
          {{t.quantity, rule ? "set_size" : std::string(kMeasures[static_cast<size_t>(which - kRuleCount)])},
           {t.rule, rule ? rule_name(kRules[static_cast<size_t>(which)], options) : ""},
           {t.view, std::string(view_name(view))},
           {t.depth, std::string(DepthSummary::kParts[static_cast<size_t>(part)])},
           {t.value, interval_cells(i)},
           {t.samples, i.samples}});
    }
  }
  return table;
}

Table by_step(const LayerAxis& axis, const RuleOptions& options, const FloatingState* state) {
  const auto& t = schema::floating_by_step;
  Table table(t);
  for (std::int64_t l = 0; state != nullptr && l < axis.size(); ++l) {
    for (std::int64_t b = 0; b < kStepBins; ++b) {
      for (std::int64_t v = 0; v < kViews; ++v) {
        for (std::int64_t r = 0; r < kRuleCount; ++r) {
          const std::int64_t cell = state->grids.steps.at({l, b, v, r});
          if (state->step_sizes.count(cell) == 0) continue;
          table.add({{t.layer, axis.number(l)},
                     {t.step_bin, b},
                     {t.view, std::string(view_name(v))},
                     {t.rule, rule_name(kRules[static_cast<size_t>(r)], options)},
                     {t.set_size, number_cell(state->step_sizes.mean(cell))},
                     {t.set_size_deviation, number_cell(state->step_sizes.deviation(cell))},
                     {t.share, number_cell(state->step_shares.mean(cell))},
                     {t.share_deviation, number_cell(state->step_shares.deviation(cell))},
                     {t.maps, state->step_sizes.count(cell)}});
        }
      }
    }
  }
  return table;
}

Table by_head(const LayerAxis& axis, const RuleOptions& options, const FloatingState* state) {
  const auto& t = schema::floating_by_head;
  Table table(t);
  for (std::int64_t l = 0; state != nullptr && l < axis.size(); ++l) {
    for (std::int64_t h = 0; h < axis.heads(); ++h) {
      for (std::int64_t r = 0; r < kRuleCount; ++r) {
        const std::int64_t cell = state->grids.heads.at({l, h, r});
        table.add({{t.layer, axis.number(l)},
                   {t.head, h},
                   {t.rule, rule_name(kRules[static_cast<size_t>(r)], options)},
                   {t.set_size, number_cell(state->head_sizes.mean(cell))},
                   {t.set_size_deviation, number_cell(state->head_sizes.deviation(cell))},
                   {t.null_set_size, number_cell(state->null_sizes.mean(r))},
                   {t.share, number_cell(state->head_shares.mean(cell))},
                   {t.share_deviation, number_cell(state->head_shares.deviation(cell))},
                   {t.fires, number_cell(state->head_fires.mean(cell))},
                   {t.maps, state->head_sizes.count(cell)}});
      }
    }
  }
  return table;
}

Table composition(const LayerAxis& axis, const RuleOptions& options, const FloatingState* state) {
  const auto& t = schema::floating_composition;
  Table table(t);
  for (std::int64_t l = 0; state != nullptr && l < axis.size(); ++l) {
    for (std::int64_t v = 0; v < kViews; ++v) {
      for (std::int64_t r = 0; r < kLists; ++r) {
        for (std::int64_t c = 0; c < PositionClasses::count(); ++c) {
          const auto& of = PositionClasses::all()[static_cast<size_t>(c)];
          const CompositionCell cell = state->composition.cell(state->grids.sets.at({l, r, v}), c);
          table.add({{t.layer, axis.number(l)},
                     {t.view, std::string(view_name(v))},
                     {t.rule, rule_name(kCompositionRules[static_cast<size_t>(r)], options)},
                     {t.dimension, std::string(of.dimension)},
                     {t.token_class, std::string(of.name)},
                     {t.share, interval_cells(cell.share)},
                     {t.base, number_cell(cell.base)},
                     {t.lift, number_cell(cell.lift)},
                     {t.samples, cell.share.samples}});
        }
      }
    }
  }
  return table;
}

Table tokens(const RuleOptions& options, const FloatingState* state) {
  const auto& t = schema::floating_tokens;
  Table table(t);
  for (std::int64_t list = 0; state != nullptr && list < kLists * kViews; ++list) {
    std::int64_t rank = 0;
    for (const auto& line : state->tally.most_frequent(list, kTokenLines)) {
      table.add({{t.view, std::string(view_name(list % kViews))},
                 {t.rule, rule_name(kCompositionRules[static_cast<size_t>(list / kViews)], options)},
                 {t.rank, ++rank},
                 {t.token, line.token},
                 {t.type, std::string(name_of(line.type))},
                 {t.share, number_cell(line.share)},
                 {t.base, number_cell(line.base)},
                 {t.lift, number_cell(line.share / line.base)}});
    }
  }
  return table;
}

}  // namespace

std::vector<Table> floating_tables(const LayerAxis& axis, const RuleOptions& rules,
                                   const FloatingState* state) {
  return {by_layer(axis, rules, state), concentration(axis, state),  over_depth(rules, state),
          by_step(axis, rules, state),  by_head(axis, rules, state), composition(axis, rules, state),
          tokens(rules, state)};
}

}  // namespace buoy::analysis
