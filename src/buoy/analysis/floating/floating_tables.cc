#include "buoy/analysis/floating/floating_tables.h"

#include <string>

namespace buoy::analysis {
namespace {

constexpr std::int64_t kTokenLines = 25;
const std::string kView(kViewMeaning);
const std::string kRuleMeaning =
    "detection rule; three_sigma and additive are the published ones, the others calibrated, as are those of "
    "another epsilon (2_sigma) "
    "(docs/analyses.md)";

Table by_layer(const LayerAxis& axis, const RuleOptions& options, const FloatingState* state) {
  Table table{
      "floating_by_layer",
      "Floating tokens by layer: size of the set and attention it holds, for the published and the "
      "calibrated rules, each beside the same rule on uniform attention",
      {{"layer", "layer of the model"},
       {"view", kView},
       {"rule", kRuleMeaning},
       {"estimator", "published or calibrated"},
       {"set_size", "positions selected, mean over steps (and heads), then over samples"},
       {"set_size_lower", "bootstrap interval over samples"},
       {"set_size_upper", "bootstrap interval over samples"},
       {"null_set_size", "positions the rule selects when attention is uniform over the visible keys"},
       {"share", "share of received attention the set holds, of 1"},
       {"share_lower", "bootstrap interval over samples"},
       {"share_upper", "bootstrap interval over samples"},
       {"null_share", "the same on uniform attention"},
       {"fires",
        "share of steps (and heads) in which the rule itself selects anything; additive: before "
        "it falls back to the largest"},
       {"undefined",
        "share of steps (and heads) in which the rule has no meaning: three sigma in rows "
        "too short for it (10 or fewer), robust with a MAD of 0"},
       {"samples", "samples with a value"}},
      {}};
  for (std::int64_t l = 0; state != nullptr && l < axis.size(); ++l) {
    for (std::int64_t v = 0; v < kViews; ++v) {
      for (std::int64_t r = 0; r < kRuleCount; ++r) {
        const Rule rule = kRules[static_cast<size_t>(r)];
        const std::int64_t cell = state->rules.at({l, v, r});
        const stats::Estimate size = state->sizes.interval(cell), share = state->shares.interval(cell);
        table.add({axis.number(l), std::string(view_name(v)), rule_name(rule, options),
                   estimator_name(rule, options), number_cell(size.value), number_cell(size.lower),
                   number_cell(size.upper), number_cell(state->null_sizes.mean(r)), number_cell(share.value),
                   number_cell(share.lower), number_cell(share.upper),
                   number_cell(state->null_shares.mean(r)), number_cell(state->fires.mean(cell)),
                   number_cell(state->undefined.mean(cell)), size.samples});
      }
    }
  }
  return table;
}

Table concentration(const LayerAxis& axis, const FloatingState* state) {
  Table table{
      "floating_concentration",
      "Concentration of received attention by layer, without any threshold (calibrated), beside uniform "
      "attention",
      {{"layer", "layer of the model"},
       {"view", kView},
       {"measure",
        "entropy (nats); anchor_count: 1 / sum of squared shares; top_share: of the largest "
        "position; margin: of the largest over the second"},
       {"value", "mean over steps (and heads), then over samples"},
       {"lower", "bootstrap interval over samples"},
       {"upper", "bootstrap interval over samples"},
       {"null", "of uniform attention with the same mask and length"},
       {"samples", "samples with a value"}},
      {}};
  for (std::int64_t l = 0; state != nullptr && l < axis.size(); ++l) {
    for (std::int64_t v = 0; v < kViews; ++v) {
      for (std::int64_t m = 0; m < kMeasureCount; ++m) {
        const stats::Estimate i = state->measured.interval(state->measures.at({l, v, m}));
        table.add({axis.number(l), std::string(view_name(v)), std::string(kMeasures[static_cast<size_t>(m)]),
                   number_cell(i.value), number_cell(i.lower), number_cell(i.upper),
                   number_cell(state->null_measures.mean(m)), i.samples});
      }
    }
  }
  return table;
}

Table over_depth(const RuleOptions& options, const FloatingState* state) {
  Table table{
      "floating_depth",
      "Do anchors get fewer and sharper with depth (claim C2)? Set sizes and concentration over depth",
      {{"quantity", "set_size of a rule, or a measure of floating_concentration"},
       {"rule", "the rule, empty for measures"},
       {"view", kView},
       {"depth", std::string(DepthSummary::kMeaning)},
       {"value", "mean over samples"},
       {"lower", "bootstrap interval over samples"},
       {"upper", "bootstrap interval over samples"},
       {"samples", "samples with a value"}},
      {}};
  for (std::int64_t q = 0; state != nullptr && q < kViews * kDepthQuantities; ++q) {
    const std::int64_t view = q / kDepthQuantities, which = q % kDepthQuantities;
    const bool rule = which < kRuleCount;
    for (std::int64_t part = 0; part < DepthSummary::kPartCount; ++part) {
      const stats::Estimate i = state->depth.interval(q, part);
      table.add({rule ? "set_size" : std::string(kMeasures[static_cast<size_t>(which - kRuleCount)]),
                 rule ? rule_name(kRules[static_cast<size_t>(which)], options) : "",
                 std::string(view_name(view)), std::string(DepthSummary::kParts[static_cast<size_t>(part)]),
                 number_cell(i.value), number_cell(i.lower), number_cell(i.upper), i.samples});
    }
  }
  return table;
}

Table by_step(const LayerAxis& axis, const RuleOptions& options, const FloatingState* state) {
  Table table{"floating_by_step",
              "Floating tokens by layer and time in the denoising run",
              {{"layer", "layer of the model"},
               {"step_bin", std::string(kStepBinMeaning)},
               {"view", kView},
               {"rule", kRuleMeaning},
               {"set_size", "positions selected, mean over the steps in the bin and samples"},
               {"set_size_deviation", "population standard deviation over steps, heads and samples"},
               {"share", "share of received attention the set holds, of 1"},
               {"share_deviation", "population standard deviation over steps, heads and samples"},
               {"maps", "maps (steps times samples times heads) with a value"}},
              {}};
  for (std::int64_t l = 0; state != nullptr && l < axis.size(); ++l) {
    for (std::int64_t b = 0; b < kStepBins; ++b) {
      for (std::int64_t v = 0; v < kViews; ++v) {
        for (std::int64_t r = 0; r < kRuleCount; ++r) {
          const std::int64_t cell = state->steps.at({l, b, v, r});
          if (state->step_sizes.count(cell) == 0) continue;
          table.add(
              {axis.number(l), b, std::string(view_name(v)),
               rule_name(kRules[static_cast<size_t>(r)], options), number_cell(state->step_sizes.mean(cell)),
               number_cell(state->step_sizes.deviation(cell)), number_cell(state->step_shares.mean(cell)),
               number_cell(state->step_shares.deviation(cell)), state->step_sizes.count(cell)});
        }
      }
    }
  }
  return table;
}

Table by_head(const LayerAxis& axis, const RuleOptions& options, const FloatingState* state) {
  Table table{
      "floating_by_head",
      "Floating tokens of every head (calibrated), beside the same rule on uniform attention",
      {{"layer", "layer of the model"},
       {"head", "query head"},
       {"rule", kRuleMeaning},
       {"set_size", "positions selected, mean over steps and samples"},
       {"set_size_deviation", "population standard deviation over steps and samples"},
       {"null_set_size", "positions the rule selects when attention is uniform over the visible keys"},
       {"share", "share of received attention the set holds, of 1"},
       {"share_deviation", "population standard deviation over steps and samples"},
       {"fires", "share of maps in which the rule itself selects anything"},
       {"maps", "maps (steps times samples) with a value"}},
      {}};
  for (std::int64_t l = 0; state != nullptr && l < axis.size(); ++l) {
    for (std::int64_t h = 0; h < axis.heads(); ++h) {
      for (std::int64_t r = 0; r < kRuleCount; ++r) {
        const std::int64_t cell = state->heads.at({l, h, r});
        table.add({axis.number(l), h, rule_name(kRules[static_cast<size_t>(r)], options),
                   number_cell(state->head_sizes.mean(cell)), number_cell(state->head_sizes.deviation(cell)),
                   number_cell(state->null_sizes.mean(r)), number_cell(state->head_shares.mean(cell)),
                   number_cell(state->head_shares.deviation(cell)), number_cell(state->head_fires.mean(cell)),
                   state->head_sizes.count(cell)});
      }
    }
  }
  return table;
}

Table composition(const LayerAxis& axis, const RuleOptions& options, const FloatingState* state) {
  Table table{"floating_composition",
              "What floating tokens are, by layer: share of each class among them, and among all positions",
              {{"layer", "layer of the model"},
               {"view", kView},
               {"rule", kRuleMeaning},
               {"dimension",
                "type of token; kind (structural or content); state; age in steps since it was "
                "revealed; position relative to the length of the row"},
               {"class", "one class of it"},
               {"share", "of the floating positions, mean over samples that have any"},
               {"lower", "bootstrap interval over samples"},
               {"upper", "bootstrap interval over samples"},
               {"base", "share of the class among all positions of the same steps: what a random set has"},
               {"lift", "share / base"},
               {"samples", "samples in which the rule selected anything"}},
              {}};
  for (std::int64_t l = 0; state != nullptr && l < axis.size(); ++l) {
    for (std::int64_t v = 0; v < kViews; ++v) {
      for (std::int64_t r = 0; r < kLists; ++r) {
        for (std::int64_t c = 0; c < PositionClasses::count(); ++c) {
          const auto& of = PositionClasses::all()[static_cast<size_t>(c)];
          const CompositionCell cell = state->composition.cell(state->sets.at({l, r, v}), c);
          table.add({axis.number(l), std::string(view_name(v)),
                     rule_name(kCompositionRules[static_cast<size_t>(r)], options), std::string(of.dimension),
                     std::string(of.name), number_cell(cell.share.value), number_cell(cell.share.lower),
                     number_cell(cell.share.upper), number_cell(cell.base), number_cell(cell.lift),
                     cell.share.samples});
        }
      }
    }
  }
  return table;
}

Table tokens(const RuleOptions& options, const FloatingState* state) {
  Table table{"floating_tokens",
              "The tokens selected most often, over all layers, steps and samples",
              {{"view", kView},
               {"rule", kRuleMeaning},
               {"rank", "1: the most frequent"},
               {"token", "its text; (mask) while masked"},
               {"type", "type of token"},
               {"share", "of all that the rule selected"},
               {"base", "share of the token among all positions and steps"},
               {"lift", "share / base"}},
              {}};
  for (std::int64_t list = 0; state != nullptr && list < kLists * kViews; ++list) {
    std::int64_t rank = 0;
    for (const auto& line : state->tally.most_frequent(list, kTokenLines)) {
      table.add({std::string(view_name(list % kViews)),
                 rule_name(kCompositionRules[static_cast<size_t>(list / kViews)], options), ++rank,
                 line.token, std::string(name_of(line.type)), number_cell(line.share), number_cell(line.base),
                 number_cell(line.share / line.base)});
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
