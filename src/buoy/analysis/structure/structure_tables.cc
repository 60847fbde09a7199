#include "buoy/analysis/structure/structure_tables.h"

#include <string>

#include "buoy/analysis/core/interval_cells.h"
#include "buoy/result/schema/structure.h"

namespace buoy::analysis {
namespace {

Table by_layer(const LayerAxis& axis, const StructureState* state) {
  const auto& t = schema::structure_by_layer;
  Table table(t);
  for (std::int64_t l = 0; state != nullptr && l < axis.size(); ++l) {
    for (std::int64_t queries = 0; queries < kQuerySets; ++queries) {
      for (std::int64_t c = 0; c < kStructureCount; ++c) {
        const std::int64_t cell = state->grids.cells.at({l, queries, c});
        const stats::Estimate share = state->shares.interval(cell),
                              lift = state->shares.ratio(cell, state->bases, cell);
        const StructureClass& of = kStructureClasses[static_cast<size_t>(c)];
        table.add({{t.layer, axis.number(l)},
                   {t.queries, std::string(kQueryNames[static_cast<size_t>(queries)])},
                   {t.dimension, std::string(of.dimension)},
                   {t.token_class, std::string(of.name)},
                   {t.share, interval_cells(share)},
                   {t.base, number_cell(state->bases.interval(cell).value)},
                   {t.lift, interval_cells(lift)},
                   {t.samples, share.samples}});
      }
    }
  }
  return table;
}

Table by_head(const LayerAxis& axis, const StructureState* state) {
  const auto& t = schema::structure_by_head;
  Table table(t);
  for (std::int64_t l = 0; state != nullptr && l < axis.size(); ++l) {
    for (std::int64_t h = 0; h < axis.heads(); ++h) {
      for (std::int64_t c = 0; c < kLiftClasses; ++c) {
        const std::int64_t cell = state->grids.head_cells.at({l, h, c});
        const double share = state->head_shares.mean(cell), base = state->head_bases.mean(cell);
        table.add({{t.layer, axis.number(l)},
                   {t.head, h},
                   {t.token_class, std::string(kStructureClasses[static_cast<size_t>(kStructural + c)].name)},
                   {t.share, number_cell(share)},
                   {t.deviation, number_cell(state->head_shares.deviation(cell))},
                   {t.base, number_cell(base)},
                   {t.lift, number_cell(share / base)},
                   {t.maps, state->head_shares.count(cell)}});
      }
    }
  }
  return table;
}

Table floating(const LayerAxis& axis, const RuleOptions& options, const StructureState* state) {
  const auto& t = schema::structure_floating;
  Table table(t);
  for (std::int64_t l = 0; state != nullptr && l < axis.size(); ++l) {
    for (std::int64_t set = 0; set < kFloatingSets; ++set) {
      for (const auto kind : kKindNames) {
        const CompositionCell cell =
            state->composition.cell(l * kFloatingSets + set, PositionClasses::find("kind", kind));
        table.add({{t.layer, axis.number(l)},
                   {t.rule, rule_name(kStructureRules[static_cast<size_t>(set / kViews)], options)},
                   {t.view, std::string(view_name(set % kViews))},
                   {t.token_class, std::string(kind)},
                   {t.share, interval_cells(cell.share)},
                   {t.base, number_cell(cell.base)},
                   {t.lift, number_cell(cell.lift)},
                   {t.samples, cell.share.samples}});
      }
    }
  }
  return table;
}

Table over_depth(const RuleOptions& options, const StructureState* state) {
  const auto& t = schema::structure_depth;
  Table table(t);
  for (std::int64_t q = 0; state != nullptr && q < kStructureQuantities; ++q) {
    const bool lift = q < kLiftQuantities;
    const std::int64_t set = (q - kLiftQuantities) / static_cast<std::int64_t>(kKindNames.size());
    const std::string name(lift ? kStructureClasses[static_cast<size_t>(kStructural + q % kLiftClasses)].name
                                : kKindNames[static_cast<size_t>(q - kLiftQuantities) % kKindNames.size()]);
    for (std::int64_t part = 0; part < DepthSummary::kPartCount; ++part) {
      const stats::Estimate i = state->depth.interval(q, part);
      const Cell level = part < 4 ? 1.0 : 0.0;
      table.add({{t.quantity, lift ? "lift" : "floating_share"},
                 {t.token_class, name},
                 {t.queries, lift ? std::string(kQueryNames[static_cast<size_t>(q / kLiftClasses)]) : ""},
                 {t.rule, lift ? "" : rule_name(kStructureRules[static_cast<size_t>(set / kViews)], options)},
                 {t.view, lift ? "" : std::string(view_name(set % kViews))},
                 {t.depth, std::string(DepthSummary::kParts[static_cast<size_t>(part)])},
                 {t.value, interval_cells(i)},
                 {t.null, lift ? level : Cell()},
                 {t.samples, i.samples}});
    }
  }
  return table;
}

}  // namespace

std::vector<Table> structure_tables(const LayerAxis& axis, const RuleOptions& rules,
                                    const StructureState* state) {
  return {by_layer(axis, state), by_head(axis, state), floating(axis, rules, state),
          over_depth(rules, state)};
}

}  // namespace buoy::analysis
