#include "buoy/analysis/absorption/absorption_tables.h"

#include <string>

namespace buoy::analysis {
namespace {

const std::string kSelectorMeaning =
    "which positions: position_0 (published for autoregressive models), additive (published for "
    "masked-diffusion "
    "models: in effect the largest), or a calibrated rule (docs/analyses.md)";
const std::string kStepsMeaning =
    "final: the forward over the final row, or the last observed step where the trace has none (the tokens "
    "that "
    "step reveals are still masked); all: mean over the observed denoising steps";
const std::string kFloorMeaning =
    "what uniform attention with the same mask gives the same positions, percent";

Cell percent(double share) {
  return number_cell(100 * share);
}

Table published(const AbsorptionFacts& facts) {
  Table table{
      "absorption_published",
      "Absorption by layer as published: position 0 for autoregressive models, the additive rule (the "
      "largest position) for masked-diffusion models, heads averaged, final row",
      {{"layer", "layer of the model"},
       {"selector", "position_0 or additive"},
       {"absorbed_percent", "share of received attention on the selected positions, mean over samples"},
       {"deviation", "population standard deviation over samples, percent: the published band"},
       {"floor_percent", kFloorMeaning + " (not published)"},
       {"saw_final_row",
        "share of samples with a forward over the final, fully unmasked row that the paper uses; "
        "below 1 the last denoising step stands in for it"},
       {"samples", "samples"}},
      {}};
  const AbsorptionState* state = facts.state;
  for (std::int64_t l = 0; state != nullptr && l < facts.axis.size(); ++l) {
    const std::int64_t selector = facts.masked_diffusion ? kAdditiveSelector : kFirstPosition;
    const std::int64_t cell = state->cells.at({l, kFinalRow, kHeadMean, selector});
    const stats::Estimate absorbed = state->absorbed.interval(cell);
    table.add({facts.axis.number(l), selector_name(selector, facts.rules), percent(absorbed.value),
               percent(absorbed.deviation), percent(state->floors.interval(cell).value),
               number_cell(state->final_rows.mean(0)), absorbed.samples});
  }
  return table;
}

Table by_layer(const AbsorptionFacts& facts) {
  Table table{
      "absorption_by_layer",
      "Absorption by layer, calibrated: every selector on every model, with its floor",
      {{"layer", "layer of the model"},
       {"steps", kStepsMeaning},
       {"view", std::string(kViewMeaning)},
       {"selector", kSelectorMeaning},
       {"absorbed_percent", "share of received attention on the selected positions, mean over samples"},
       {"lower", "bootstrap interval over samples"},
       {"upper", "bootstrap interval over samples"},
       {"deviation", "population standard deviation over samples"},
       {"floor_percent", kFloorMeaning},
       {"lift", "absorbed / floor, ratio of means; nothing where nothing was selected"},
       {"lift_lower", "bootstrap interval over samples"},
       {"lift_upper", "bootstrap interval over samples"},
       {"set_size", "selected positions, mean"},
       {"undefined", "share of maps in which the rule has no meaning"},
       {"samples", "samples with a value"}},
      {}};
  const AbsorptionState* state = facts.state;
  for (std::int64_t l = 0; state != nullptr && l < facts.axis.size(); ++l) {
    for (std::int64_t when = 0; when < kWhens; ++when) {
      for (std::int64_t v = 0; v < kViews; ++v) {
        for (std::int64_t selector = 0; selector < kSelectors; ++selector) {
          const std::int64_t cell = state->cells.at({l, when, v, selector});
          const stats::Estimate absorbed = state->absorbed.interval(cell),
                                floor = state->floors.interval(cell),
                                lift = state->absorbed.ratio(cell, state->floors, cell);
          table.add({facts.axis.number(l), std::string(kWhenNames[static_cast<size_t>(when)]),
                     std::string(view_name(v)), selector_name(selector, facts.rules), percent(absorbed.value),
                     percent(absorbed.lower), percent(absorbed.upper), percent(absorbed.deviation),
                     percent(floor.value), number_cell(lift.value), number_cell(lift.lower),
                     number_cell(lift.upper), number_cell(state->sizes.mean(cell)),
                     number_cell(state->undefined.mean(cell)), absorbed.samples});
        }
      }
    }
  }
  return table;
}

Table summary(const AbsorptionFacts& facts) {
  Table table{"absorption_summary",
              "Absorption over depth (claim C4: the same selector on every model, against its floor)",
              {{"steps", kStepsMeaning},
               {"view", std::string(kViewMeaning)},
               {"selector", kSelectorMeaning},
               {"depth", std::string(DepthSummary::kMeaning)},
               {"absorbed_percent", "mean over samples of the mean over layers"},
               {"lower", "bootstrap interval over samples"},
               {"upper", "bootstrap interval over samples"},
               {"floor_percent", kFloorMeaning},
               {"lift", "absorbed / floor; nothing for differences and slopes"},
               {"lift_lower", "bootstrap interval over samples"},
               {"lift_upper", "bootstrap interval over samples"},
               {"samples", "samples with a value"}},
              {}};
  for (std::int64_t q = 0; facts.state != nullptr && q < kAbsorptionQuantities; q += 2) {
    const std::int64_t selector = q / 2 % kSelectors, view = q / 2 / kSelectors % kViews,
                       when = q / 2 / kSelectors / kViews;
    for (std::int64_t part = 0; part < DepthSummary::kPartCount; ++part) {
      const DepthSummary& depth = facts.state->depth;
      const stats::Estimate absorbed = depth.interval(q, part);
      const bool level = part < 4;
      const stats::Estimate lift = level ? depth.ratio(q, q + 1, part) : stats::Estimate{};
      table.add({std::string(kWhenNames[static_cast<size_t>(when)]), std::string(view_name(view)),
                 selector_name(selector, facts.rules),
                 std::string(DepthSummary::kParts[static_cast<size_t>(part)]), percent(absorbed.value),
                 percent(absorbed.lower), percent(absorbed.upper), percent(depth.interval(q + 1, part).value),
                 level ? number_cell(lift.value) : Cell(), level ? number_cell(lift.lower) : Cell(),
                 level ? number_cell(lift.upper) : Cell(), absorbed.samples});
    }
  }
  return table;
}

Table by_step(const AbsorptionFacts& facts) {
  Table table{"absorption_by_step",
              "Absorption by layer and time in the denoising run (calibrated)",
              {{"layer", "layer of the model"},
               {"step_bin", std::string(kStepBinMeaning)},
               {"view", std::string(kViewMeaning)},
               {"selector", kSelectorMeaning},
               {"absorbed_percent", "mean over the steps in the bin, heads and samples"},
               {"deviation", "population standard deviation over the same"},
               {"floor_percent", kFloorMeaning},
               {"maps", "maps (steps times samples times heads) with a value"}},
              {}};
  const AbsorptionState* state = facts.state;
  for (std::int64_t l = 0; state != nullptr && l < facts.axis.size(); ++l) {
    for (std::int64_t b = 0; b < kStepBins; ++b) {
      for (std::int64_t v = 0; v < kViews; ++v) {
        for (std::int64_t selector = 0; selector < kSelectors; ++selector) {
          const std::int64_t cell = state->step_cells.at({l, b, v, selector});
          if (state->step_absorbed.count(cell) == 0) continue;
          table.add({facts.axis.number(l), b, std::string(view_name(v)), selector_name(selector, facts.rules),
                     percent(state->step_absorbed.mean(cell)), percent(state->step_absorbed.deviation(cell)),
                     percent(state->step_floor.mean(cell)), state->step_absorbed.count(cell)});
        }
      }
    }
  }
  return table;
}

Table by_head(const AbsorptionFacts& facts) {
  Table table{"absorption_by_head",
              "Absorption of every head, mean over the observed steps (calibrated)",
              {{"layer", "layer of the model"},
               {"head", "query head"},
               {"selector", kSelectorMeaning},
               {"absorbed_percent", "mean over steps and samples"},
               {"deviation", "population standard deviation over steps and samples"},
               {"floor_percent", kFloorMeaning},
               {"maps", "maps (steps times samples) with a value"}},
              {}};
  const AbsorptionState* state = facts.state;
  for (std::int64_t l = 0; state != nullptr && l < facts.axis.size(); ++l) {
    for (std::int64_t h = 0; h < facts.axis.heads(); ++h) {
      for (std::int64_t selector = 0; selector < kSelectors; ++selector) {
        const std::int64_t cell = state->head_cells.at({l, h, selector});
        table.add({facts.axis.number(l), h, selector_name(selector, facts.rules),
                   percent(state->head_absorbed.mean(cell)), percent(state->head_absorbed.deviation(cell)),
                   percent(state->head_floor.mean(cell)), state->head_absorbed.count(cell)});
      }
    }
  }
  return table;
}

Table split_half(const AbsorptionFacts& facts) {
  Table table{"absorption_split_half",
              "Absorption of the largest position, chosen on one half of the queries and scored on the other "
              "(calibrated; needs query groups named even and odd, without them there are no values)",
              {{"layer", "layer of the model"},
               {"view", std::string(kViewMeaning)},
               {"same_percent", "chosen and scored on the same half: holds the bias of choosing the largest"},
               {"split_percent", "chosen on one half, scored on the other, mean of both ways"},
               {"lower", "bootstrap interval of split_percent over samples"},
               {"upper", "bootstrap interval of split_percent over samples"},
               {"samples", "samples with a value"}},
              {}};
  const AbsorptionState* state = facts.state;
  for (std::int64_t l = 0; state != nullptr && l < facts.axis.size(); ++l) {
    for (std::int64_t v = 0; v < kViews; ++v) {
      const std::int64_t cell = state->half_cells.at({l, v});
      const stats::Estimate split = state->split.interval(cell);
      table.add({facts.axis.number(l), std::string(view_name(v)), percent(state->same.interval(cell).value),
                 percent(split.value), percent(split.lower), percent(split.upper), split.samples});
    }
  }
  return table;
}

}  // namespace

std::vector<Table> absorption_tables(const AbsorptionFacts& facts) {
  return {published(facts), by_layer(facts),   summary(facts),        by_step(facts),
          by_head(facts),   split_half(facts), published_absorption()};
}

}  // namespace buoy::analysis
