#include "buoy/analysis/absorption/absorption_tables.h"

#include <string>

#include "buoy/analysis/absorption/excess_tables.h"
#include "buoy/analysis/core/interval_cells.h"
#include "buoy/result/schema/absorption.h"

namespace buoy::analysis {
namespace {

Cell percent(double share) {
  return number_cell(100 * share);
}

Table published(const AbsorptionFacts& facts) {
  const auto& t = schema::absorption_published;
  Table table(t);
  const AbsorptionState* state = facts.state;
  for (std::int64_t l = 0; state != nullptr && l < facts.axis.size(); ++l) {
    const std::int64_t selector = facts.masked_diffusion ? kAdditiveSelector : kFirstPosition;
    const std::int64_t cell = state->grids.cells.at({l, kFinalRow, kHeadMean, selector});
    const stats::Estimate absorbed = state->absorbed.interval(cell);
    table.add({{t.layer, facts.axis.number(l)},
               {t.selector, selector_name(selector, facts.rules)},
               {t.absorbed_percent, percent(absorbed.value)},
               {t.deviation, percent(absorbed.deviation)},
               {t.floor_percent, percent(state->floors.interval(cell).value)},
               {t.saw_final_row, number_cell(state->final_rows.mean(0))},
               {t.samples, absorbed.samples}});
  }
  return table;
}

Table by_layer(const AbsorptionFacts& facts) {
  const auto& t = schema::absorption_by_layer;
  Table table(t);
  const AbsorptionState* state = facts.state;
  for (std::int64_t l = 0; state != nullptr && l < facts.axis.size(); ++l) {
    for (std::int64_t when = 0; when < kWhens; ++when) {
      for (std::int64_t v = 0; v < kViews; ++v) {
        for (std::int64_t selector = 0; selector < kSelectors; ++selector) {
          const std::int64_t cell = state->grids.cells.at({l, when, v, selector});
          const stats::Estimate absorbed = state->absorbed.interval(cell),
                                floor = state->floors.interval(cell),
                                lift = state->absorbed.ratio(cell, state->floors, cell);
          table.add({{t.layer, facts.axis.number(l)},
                     {t.steps, std::string(kWhenNames[static_cast<size_t>(when)])},
                     {t.view, std::string(view_name(v))},
                     {t.selector, selector_name(selector, facts.rules)},
                     {t.absorbed_percent, percent_cells(absorbed)},
                     {t.deviation, percent(absorbed.deviation)},
                     {t.floor_percent, percent(floor.value)},
                     {t.lift, interval_cells(lift)},
                     {t.set_size, number_cell(state->sizes.mean(cell))},
                     {t.undefined, number_cell(state->undefined.mean(cell))},
                     {t.samples, absorbed.samples}});
        }
      }
    }
  }
  return table;
}

Table summary(const AbsorptionFacts& facts) {
  const auto& t = schema::absorption_summary;
  Table table(t);
  for (std::int64_t q = 0; facts.state != nullptr && q < kAbsorptionQuantities; q += 2) {
    const std::int64_t selector = q / 2 % kSelectors, view = q / 2 / kSelectors % kViews,
                       when = q / 2 / kSelectors / kViews;
    for (std::int64_t part = 0; part < DepthSummary::kPartCount; ++part) {
      const DepthSummary& depth = facts.state->depth;
      const stats::Estimate absorbed = depth.interval(q, part);
      const bool level = part < 4;
      const stats::Estimate lift = level ? depth.ratio(q, q + 1, part) : stats::Estimate{};
      table.add({{t.steps, std::string(kWhenNames[static_cast<size_t>(when)])},
                 {t.view, std::string(view_name(view))},
                 {t.selector, selector_name(selector, facts.rules)},
                 {t.depth, std::string(DepthSummary::kParts[static_cast<size_t>(part)])},
                 {t.absorbed_percent, percent_cells(absorbed)},
                 {t.floor_percent, percent(depth.interval(q + 1, part).value)},
                 {t.lift, interval_cells(lift)},
                 {t.samples, absorbed.samples}});
    }
  }
  return table;
}

Table by_step(const AbsorptionFacts& facts) {
  const auto& t = schema::absorption_by_step;
  Table table(t);
  const AbsorptionState* state = facts.state;
  for (std::int64_t l = 0; state != nullptr && l < facts.axis.size(); ++l) {
    for (std::int64_t b = 0; b < kStepBins; ++b) {
      for (std::int64_t v = 0; v < kViews; ++v) {
        for (std::int64_t selector = 0; selector < kSelectors; ++selector) {
          const std::int64_t cell = state->grids.step_cells.at({l, b, v, selector});
          if (state->step_absorbed.count(cell) == 0) continue;
          table.add({{t.layer, facts.axis.number(l)},
                     {t.step_bin, b},
                     {t.view, std::string(view_name(v))},
                     {t.selector, selector_name(selector, facts.rules)},
                     {t.absorbed_percent, percent(state->step_absorbed.mean(cell))},
                     {t.deviation, percent(state->step_absorbed.deviation(cell))},
                     {t.floor_percent, percent(state->step_floor.mean(cell))},
                     {t.maps, state->step_absorbed.count(cell)}});
        }
      }
    }
  }
  return table;
}

Table by_head(const AbsorptionFacts& facts) {
  const auto& t = schema::absorption_by_head;
  Table table(t);
  const AbsorptionState* state = facts.state;
  for (std::int64_t l = 0; state != nullptr && l < facts.axis.size(); ++l) {
    for (std::int64_t h = 0; h < facts.axis.heads(); ++h) {
      for (std::int64_t selector = 0; selector < kSelectors; ++selector) {
        const std::int64_t cell = state->grids.head_cells.at({l, h, selector});
        table.add({{t.layer, facts.axis.number(l)},
                   {t.head, h},
                   {t.selector, selector_name(selector, facts.rules)},
                   {t.absorbed_percent, percent(state->head_absorbed.mean(cell))},
                   {t.deviation, percent(state->head_absorbed.deviation(cell))},
                   {t.floor_percent, percent(state->head_floor.mean(cell))},
                   {t.maps, state->head_absorbed.count(cell)}});
      }
    }
  }
  return table;
}

Table split_half(const AbsorptionFacts& facts) {
  const auto& t = schema::absorption_split_half;
  Table table(t);
  const AbsorptionState* state = facts.state;
  for (std::int64_t l = 0; state != nullptr && l < facts.axis.size(); ++l) {
    for (std::int64_t v = 0; v < kViews; ++v) {
      const std::int64_t cell = state->grids.half_cells.at({l, v});
      const stats::Estimate split = state->split.interval(cell);
      table.add({{t.layer, facts.axis.number(l)},
                 {t.view, std::string(view_name(v))},
                 {t.same_percent, percent(state->same.interval(cell).value)},
                 {t.split_percent, percent_cells(split)},
                 {t.samples, split.samples}});
    }
  }
  return table;
}

}  // namespace

std::vector<Table> absorption_tables(const AbsorptionFacts& facts) {
  const ExcessState* excess = facts.state != nullptr ? &facts.state->excess : nullptr;
  return {published(facts),       by_layer(facts),
          summary(facts),         by_step(facts),
          by_head(facts),         split_half(facts),
          excess_table(excess),   excess_by_layer_table(facts.axis, excess),
          published_absorption(), excess_by_block_length(excess)};
}

}  // namespace buoy::analysis
