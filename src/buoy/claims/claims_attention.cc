#include <fmt/format.h>

#include <algorithm>

#include "buoy/claims/claims_judges.h"
#include "buoy/claims/corrected.h"
#include "buoy/result/rule_names.h"
#include "buoy/result/schema/absorption.h"
#include "buoy/result/schema/drift.h"
#include "buoy/result/schema/floating.h"
#include "buoy/result/schema/qk.h"

namespace buoy::claims {
namespace {

ClaimVerdict without_diffusion(ClaimVerdict claim) {
  claim.evidence = "There is no trace of a masked-diffusion model.";
  claim.needs = kNeedsDiffusion;
  return claim;
}

Lookup drift_row(const std::string& scalar) {
  const auto& t = schema::drift_summary;
  return {t,
          {{t.view, "head_mean"}, {t.positions, "all"}, {t.scalar, scalar}, {t.depth, "all layers"}},
          t.value,
          &t.samples};
}

TraceVerdict judge_drift_of(const Material& material, const TraceKind& trace) {
  const Reading still = material.read(trace, drift_row("static"));
  const auto& t = schema::drift_by_layer;
  const auto& o = schema::drift_order;
  const Reading by_layer = material.read(
      trace,
      {t, {{t.view, "head_mean"}, {t.positions, "all"}, {t.scalar, "spearman_step"}}, t.value, &t.samples});
  const Reading order = material.read(trace, {o, {{o.scalar, "reveal_order"}}, o.value, &o.samples});

  const auto summary = [&](const char* scalar, const QuantityRule& rule) {
    return ask(material.read(trace, drift_row(scalar)), Expectation(rule));
  };
  auto parts = decide(std::vector<Question>{
      summary("spearman_step", rules::kStep),
      summary("spearman_step_given_frontier", rules::kStepGivenFrontier), summary("static", rules::kStatic),
      ask_layers(by_layer.rows, Expectation(rules::kStepByLayer, "by layer"))});
  Part &step = parts[0], &given = parts[1], &moves = parts[2], &layers = parts[3];
  if (given.finding == Finding::kLacking)
    given.lacking += "; where step and frontier are the same thing, a run that unmasks in random order";
  if (!by_layer.lacking.empty()) layers.lacking = by_layer.lacking;

  TraceVerdict out = judge_trace(trace, parts);
  // That anchors move is a condition of the claim, and no evidence for a direction.
  if (moves.finding == Finding::kFor)
    out.verdict = combine(std::span<const Part>(std::vector<Part>{step, given, layers}));
  if (step.finding == Finding::kAgainst && given.finding != Finding::kFor && layers.finding != Finding::kFor)
    out.verdict = Verdict::kContradicted;
  const bool all_still = moves.finding == Finding::kAgainst && still.rows[0].lower >= rules::kAllStatic;
  if (all_still && step.finding != Finding::kFor && given.finding != Finding::kFor) {
    out.verdict = Verdict::kContradicted;
    out.evidence +=
        fmt::format("; anchors stay put in at least {:g} of samples and layers", rules::kAllStatic);
  }
  if (out.verdict == Verdict::kContradicted) out.needs.clear();
  if (!order.rows.empty())
    out.evidence += fmt::format("; reveal order {} (1 left to right, 0 random)", words_of(order.rows[0]));
  return out;
}

struct DepthTrend {
  const char* quantity;
  bool of_a_set;
  const QuantityRule& rule;
};

TraceVerdict judge_depth_of(const Material& material, const TraceKind& trace) {
  constexpr DepthTrend kTrends[] = {{"set_size", true, rules::kSetSize},
                                    {"entropy", false, rules::kEntropy},
                                    {"top_share", false, rules::kTopShare}};
  const auto& t = schema::floating_depth;
  const std::string rule = sigma_rule(find_table(material.tables, t), t.rule);
  std::vector<Question> questions;
  for (const std::string view : {"per_head", "head_mean"}) {
    for (const auto& trend : kTrends) {
      const Lookup row{t,
                       {{t.quantity, trend.quantity},
                        {t.rule, trend.of_a_set ? rule : ""},
                        {t.view, view},
                        {t.depth, "slope"}},
                       t.value,
                       &t.samples};
      const std::string name =
          fmt::format("{}{}, {}", trend.rule.what, trend.of_a_set ? by_other_rule(rule) : "", view);
      questions.push_back(ask(material.read(trace, row), {trend.rule, name}));
    }
  }
  return judge_trace(trace, decide(questions));
}

Lookup absorption_row(const std::string& selector, const Interval& columns) {
  const auto& t = schema::absorption_summary;
  return {t,
          {{t.steps, "final"}, {t.view, "per_head"}, {t.selector, selector}, {t.depth, "all layers"}},
          columns,
          &t.samples};
}

Lookup lift_row(const std::string& selector) {
  return absorption_row(selector, schema::absorption_summary.lift);
}

Lookup percent_row(const std::string& selector) {
  return absorption_row(selector, schema::absorption_summary.absorbed_percent);
}

// Whether the first interval lies above the second by more than the margin. The difference reaches from the
// nearest to the farthest ends of both.
Part judge_higher(const Expectation& expected, const Reading& first, const Reading& second, double alpha) {
  if (first.rows.empty() || second.rows.empty())
    return {Finding::kLacking, expected.name + " not defined",
            first.rows.empty() ? first.lacking : second.lacking};
  const Estimate one = first.rows[0], other = second.rows[0];
  const Estimate near = widened(one, alpha), far = widened(other, alpha);
  Finding finding = side_of_null({one.value - other.value, near.lower - far.upper, near.upper - far.lower, 0},
                                 expected.rule);
  std::string remark = finding == Finding::kFor       ? "as claimed"
                       : finding == Finding::kAgainst ? "the other way"
                       : finding == Finding::kEqual   ? "no difference beyond the margin"
                                                      : "intervals are not apart: not decided by this data";
  const std::int64_t samples = std::min(one.samples, other.samples);
  if (decided(finding) && samples < kFewestSamples) {
    finding = Finding::kUndecided;
    remark = too_few(samples);
  }
  return {finding,
          fmt::format("{} {} against {} ({})", expected.name, words_of(one), words_of(other), remark),
          {}};
}

TraceVerdict judge_absorption_of(const Material& material, const TraceKind& causal,
                                 const TraceKind& diffusion) {
  const auto higher = [&](const QuantityRule& rule, const std::string& selector) {
    const Reading one = material.read(causal, lift_row(selector));
    const Reading other = material.read(diffusion, lift_row(selector));
    return [=](double alpha) { return judge_higher(Expectation(rule), one, other, alpha); };
  };
  const auto parts = decide(std::vector<Question>{
      ask(material.read(causal, lift_row("position_0")), Expectation(rules::kSink)),
      higher(rules::kFirstColumn, "position_0"), higher(rules::kLargestColumn, "top_1")});
  const Part &at_0 = parts[1], &largest = parts[2];

  TraceVerdict out = judge_trace(fmt::format("{} against {}", causal.label, diffusion.label), parts);
  out.networks = {causal.traced(), diffusion.traced()};
  // A sink alone is not the claim: what is claimed is that it is the stronger one.
  if (at_0.finding == Finding::kAgainst && largest.finding == Finding::kAgainst)
    out.verdict = Verdict::kContradicted;
  const Reading one = material.read(causal, percent_row("position_0"));
  const Reading other = material.read(diffusion, percent_row("position_0"));
  if (!one.rows.empty() && !other.rows.empty()) {
    out.evidence += fmt::format("; in percent position 0 takes {} against {}, before floors",
                                words_of(one.rows[0]), words_of(other.rows[0]));
  }
  return out;
}

TraceVerdict judge_split_of(const Material& material, const TraceKind& trace) {
  const auto& t = schema::qk_depth;
  const std::string rule = sigma_rule(find_table(material.tables, t), t.set);
  const std::string set = rule + "_head", by = by_other_rule(rule);
  const auto row = [&](const std::string& statistic) {
    return material.read(
        trace, {t, {{t.set, set}, {t.stage, "after"}, {t.statistic, statistic}}, t.value, &t.samples});
  };
  const auto slope = [&](const QuantityRule& rule) {
    return ask(row(std::string(rule.what)), {rule, std::string(rule.what) + by});
  };
  TraceVerdict out =
      judge_trace(trace, decide(std::vector<Question>{slope(rules::kAngle), slope(rules::kScale)}));
  for (const std::string part : {"angle", "scale"}) {
    const Reading shallow = row(fmt::format("fraction due to {} of the shallow third", part));
    const Reading deep = row(fmt::format("fraction due to {} of the deep third", part));
    if (shallow.rows.empty() || deep.rows.empty()) continue;
    out.evidence += fmt::format("; {} {} in the shallow third, {} in the deep one", part,
                                words_of(shallow.rows[0]), words_of(deep.rows[0]));
  }
  return out;
}

ClaimVerdict over_diffusion(ClaimVerdict claim, const Material& material,
                            TraceVerdict (*judge_one)(const Material&, const TraceKind&)) {
  const auto traces = material.diffusion();
  if (traces.empty()) return without_diffusion(std::move(claim));
  for (const auto& trace : traces) claim.by_trace.push_back(judge_one(material, trace));
  conclude(claim, combine(claim.by_trace));
  return claim;
}

}  // namespace

ClaimVerdict judge_drift(const Material& material) {
  return over_diffusion(verdict_on("C1"), material, judge_drift_of);
}

ClaimVerdict judge_depth(const Material& material) {
  return over_diffusion(verdict_on("C2"), material, judge_depth_of);
}

ClaimVerdict judge_absorption(const Material& material) {
  ClaimVerdict claim = verdict_on("C4");
  const auto causal = material.autoregressive(), diffusion = material.diffusion();
  if (causal.empty() || diffusion.empty()) {
    claim.evidence = "There are not both kinds of traces.";
    claim.needs = causal.empty() ? kNeedsAutoregressive : kNeedsDiffusion;
    return claim;
  }
  for (const auto& one : causal) {
    for (const auto& other : diffusion) claim.by_trace.push_back(judge_absorption_of(material, one, other));
  }
  conclude(claim, combine(claim.by_trace));
  return claim;
}

ClaimVerdict judge_split(const Material& material) {
  return over_diffusion(verdict_on("C5"), material, judge_split_of);
}

}  // namespace buoy::claims
