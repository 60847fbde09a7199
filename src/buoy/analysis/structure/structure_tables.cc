#include "buoy/analysis/structure/structure_tables.h"

#include <string>

namespace buoy::analysis {
namespace {

const std::string kClassMeaning =
    "class of tokens: a type; structural (special, template, white space, punctuation), content (with "
    "digits) or "
    "mask; gold: in a gold region; evidence: part of the answer in a gold document";
const std::string kBaseMeaning =
    "what uniform attention with the same mask gives the class: its share of positions if bidirectional";
const std::string kQueriesMeaning =
    "whose attention: of all queries (published), or of the answer's positions";

Table by_layer(const LayerAxis& axis, const StructureState* state) {
  Table table{
      "structure_by_layer",
      "Received attention on structure, on content and on the gold span by layer, against its base rate "
      "(calibrated; the paper has no such estimator)",
      {{"layer", "layer of the model"},
       {"queries", kQueriesMeaning},
       {"dimension", "type, kind or gold"},
       {"class", kClassMeaning},
       {"share", "share of attention on the class, of 1, mean over heads, steps and samples"},
       {"lower", "bootstrap interval over samples"},
       {"upper", "bootstrap interval over samples"},
       {"base", kBaseMeaning},
       {"lift", "share / base, ratio of means over samples"},
       {"lift_lower", "bootstrap interval over samples"},
       {"lift_upper", "bootstrap interval over samples"},
       {"samples", "samples with a value"}},
      {}};
  for (std::int64_t l = 0; state != nullptr && l < axis.size(); ++l) {
    for (std::int64_t queries = 0; queries < kQuerySets; ++queries) {
      for (std::int64_t c = 0; c < kStructureCount; ++c) {
        const std::int64_t cell = state->cells.at({l, queries, c});
        const stats::Estimate share = state->shares.interval(cell),
                              lift = state->shares.ratio(cell, state->bases, cell);
        const StructureClass& of = kStructureClasses[static_cast<size_t>(c)];
        table.add({axis.number(l), std::string(kQueryNames[static_cast<size_t>(queries)]),
                   std::string(of.dimension), std::string(of.name), number_cell(share.value),
                   number_cell(share.lower), number_cell(share.upper),
                   number_cell(state->bases.interval(cell).value), number_cell(lift.value),
                   number_cell(lift.lower), number_cell(lift.upper), share.samples});
      }
    }
  }
  return table;
}

Table by_head(const LayerAxis& axis, const StructureState* state) {
  Table table{
      "structure_by_head",
      "Received attention on structure, content and the gold span of every head, all queries (calibrated)",
      {{"layer", "layer of the model"},
       {"head", "query head"},
       {"class", kClassMeaning},
       {"share", "share of attention on the class, of 1, mean over steps and samples"},
       {"deviation", "population standard deviation over steps and samples"},
       {"base", kBaseMeaning},
       {"lift", "share / base"},
       {"maps", "maps (steps times samples) with a value"}},
      {}};
  for (std::int64_t l = 0; state != nullptr && l < axis.size(); ++l) {
    for (std::int64_t h = 0; h < axis.heads(); ++h) {
      for (std::int64_t c = 0; c < kLiftClasses; ++c) {
        const std::int64_t cell = state->head_cells.at({l, h, c});
        const double share = state->head_shares.mean(cell), base = state->head_bases.mean(cell);
        table.add({axis.number(l), h,
                   std::string(kStructureClasses[static_cast<size_t>(kStructural + c)].name),
                   number_cell(share), number_cell(state->head_shares.deviation(cell)), number_cell(base),
                   number_cell(share / base), state->head_shares.count(cell)});
      }
    }
  }
  return table;
}

Table floating(const LayerAxis& axis, const RuleOptions& options, const StructureState* state) {
  Table table{
      "structure_floating",
      "Are floating tokens structure or content, by layer? Their share of each kind, and that of a random "
      "set",
      {{"layer", "layer of the model"},
       {"rule", "three_sigma is the published rule"},
       {"view", std::string(kViewMeaning)},
       {"class", "structural (special, template, white space, punctuation), content (with digits) or mask"},
       {"share", "of the floating positions, mean over samples that have any"},
       {"lower", "bootstrap interval over samples"},
       {"upper", "bootstrap interval over samples"},
       {"base", "share of the class among all positions of the same steps: what a random set has"},
       {"lift", "share / base"},
       {"samples", "samples in which the rule selected anything"}},
      {}};
  for (std::int64_t l = 0; state != nullptr && l < axis.size(); ++l) {
    for (std::int64_t set = 0; set < kFloatingSets; ++set) {
      for (const auto kind : kKindNames) {
        const CompositionCell cell =
            state->composition.cell(l * kFloatingSets + set, PositionClasses::find("kind", kind));
        table.add({axis.number(l), rule_name(kStructureRules[static_cast<size_t>(set / kViews)], options),
                   std::string(view_name(set % kViews)), std::string(kind), number_cell(cell.share.value),
                   number_cell(cell.share.lower), number_cell(cell.share.upper), number_cell(cell.base),
                   number_cell(cell.lift), cell.share.samples});
      }
    }
  }
  return table;
}

Table over_depth(const RuleOptions& options, const StructureState* state) {
  Table table{
      "structure_depth",
      "Shallow structure, deep content (claim C6)? Lift of received attention on a class, and the make-up of "
      "floating tokens, over depth",
      {{"quantity",
        "lift: of received attention over its base rate, per sample; floating_share: share of a "
        "class among floating tokens"},
       {"class", kClassMeaning},
       {"queries", kQueriesMeaning + "; empty for floating_share"},
       {"rule", "rule of floating_share"},
       {"view", std::string(kViewMeaning) + "; of floating_share"},
       {"depth", std::string(DepthSummary::kMeaning)},
       {"value", "mean over samples"},
       {"lower", "bootstrap interval over samples"},
       {"upper", "bootstrap interval over samples"},
       {"null", "1 for levels of a lift, 0 for its differences and slopes; nothing for shares"},
       {"samples", "samples with a value"}},
      {}};
  for (std::int64_t q = 0; state != nullptr && q < kStructureQuantities; ++q) {
    const bool lift = q < kLiftQuantities;
    const std::int64_t set = (q - kLiftQuantities) / static_cast<std::int64_t>(kKindNames.size());
    const std::string name(lift ? kStructureClasses[static_cast<size_t>(kStructural + q % kLiftClasses)].name
                                : kKindNames[static_cast<size_t>(q - kLiftQuantities) % kKindNames.size()]);
    for (std::int64_t part = 0; part < DepthSummary::kPartCount; ++part) {
      const stats::Estimate i = state->depth.interval(q, part);
      const Cell level = part < 4 ? 1.0 : 0.0;
      table.add({lift ? "lift" : "floating_share", name,
                 lift ? std::string(kQueryNames[static_cast<size_t>(q / kLiftClasses)]) : "",
                 lift ? "" : rule_name(kStructureRules[static_cast<size_t>(set / kViews)], options),
                 lift ? "" : std::string(view_name(set % kViews)),
                 std::string(DepthSummary::kParts[static_cast<size_t>(part)]), number_cell(i.value),
                 number_cell(i.lower), number_cell(i.upper), lift ? level : Cell(), i.samples});
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
