#include <fmt/format.h>

#include <algorithm>

#include "buoy/claims/claims_judges.h"
#include "buoy/result/rule_names.h"
#include "buoy/result/schema/absorption.h"
#include "buoy/result/schema/drift.h"
#include "buoy/result/schema/floating.h"
#include "buoy/result/schema/qk.h"

namespace buoy::claims {
namespace {

constexpr double kSpearmanMargin = 0.1;
constexpr double kSetSizeMargin = 0.1;     // positions, over the depth of the model
constexpr double kEntropyMargin = 0.02;    // nats
constexpr double kTopShareMargin = 0.001;  // of all attention
constexpr double kFractionMargin = 0.05;
constexpr double kExcessMargin = 0.02;  // of the attention that the mask leaves free
constexpr double kMostlyStatic = 0.5;
constexpr double kAllStatic = 0.9;

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

  const Part step = judge(material.read(trace, drift_row("spearman_step")),
                          {"Spearman of anchor and step", Side::kAbove, 0, kSpearmanMargin});
  Part given = judge(material.read(trace, drift_row("spearman_step_given_frontier")),
                     {"the same given the frontier", Side::kAbove, 0, kSpearmanMargin});
  if (given.finding == Finding::kLacking)
    given.lacking += "; where step and frontier are the same thing, a run that unmasks in random order";
  const Part moves =
      judge(still, {"share of samples and layers whose anchor never moves", Side::kBelow, kMostlyStatic, 0});
  Part layers = judge_layers(by_layer.rows, {"by layer", Side::kAbove, 0, kSpearmanMargin});
  if (!by_layer.lacking.empty()) layers.lacking = by_layer.lacking;

  TraceVerdict out = judge_trace(trace.label, std::vector<Part>{step, given, moves, layers});
  if (step.finding == Finding::kAgainst && given.finding != Finding::kFor)
    out.verdict = Verdict::kContradicted;
  const bool all_still = moves.finding == Finding::kAgainst && still.rows[0].lower >= kAllStatic;
  if (all_still && step.finding != Finding::kFor && given.finding != Finding::kFor) {
    out.verdict = Verdict::kContradicted;
    out.evidence += fmt::format("; anchors stay put in at least {:g} of samples and layers", kAllStatic);
  }
  if (out.verdict == Verdict::kContradicted) out.needs.clear();
  if (!order.rows.empty())
    out.evidence += fmt::format("; reveal order {} (1 left to right, 0 random)", words_of(order.rows[0]));
  return out;
}

struct DepthTrend {
  const char* quantity;
  bool of_a_set;
  Side side;
  double margin;
};

TraceVerdict judge_depth_of(const Material& material, const TraceKind& trace) {
  constexpr DepthTrend kTrends[] = {{"set_size", true, Side::kBelow, kSetSizeMargin},
                                    {"entropy", false, Side::kBelow, kEntropyMargin},
                                    {"top_share", false, Side::kAbove, kTopShareMargin}};
  const auto& t = schema::floating_depth;
  const std::string rule = sigma_rule(find_table(material.tables, t), t.rule);
  std::vector<Part> parts;
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
          fmt::format("slope of {}{}, {}", trend.quantity, trend.of_a_set ? by_other_rule(rule) : "", view);
      parts.push_back(judge(material.read(trace, row), {name, trend.side, 0, trend.margin}));
    }
  }
  return judge_trace(trace.label, parts);
}

// Final row, head by head, all layers; by the queries of the answer, which see nearly all keys, where the
// trace has them apart, else by all.
struct ExcessReading {
  Reading reading;
  std::string queries;
};

ExcessReading excess_of(const Material& material, const TraceKind& trace, const std::string& selector) {
  const auto& t = schema::absorption_excess;
  const auto by = [&](const std::string& queries) {
    return material.read(trace, {t,
                                 {{t.steps, "final"},
                                  {t.view, "per_head"},
                                  {t.queries, queries},
                                  {t.selector, selector},
                                  {t.depth, "all layers"}},
                                 t.excess,
                                 &t.samples});
  };
  Reading reading = by("answer");
  if (!reading.rows.empty()) return {reading, "answer"};
  return {by("all"), "all"};
}

// The first minus the second, of the questions they share in pairs.
Reading excess_difference(const Material& material, const TraceKind& one, const TraceKind& other,
                          const std::string& selector, const std::string& queries) {
  const auto& t = schema::absorption_pairs;
  const auto of = [&](const TraceKind& first, const TraceKind& second) {
    return material.read(first, {t,
                                 {{t.other, second.label},
                                  {t.steps, "final"},
                                  {t.view, "per_head"},
                                  {t.queries, queries},
                                  {t.selector, selector}},
                                 t.difference,
                                 &t.samples});
  };
  Reading reading = of(one, other);
  if (!reading.rows.empty()) return reading;
  Reading turned = of(other, one);
  for (auto& row : turned.rows) row = {-row.value, -row.upper, -row.lower, row.samples};
  return turned.rows.empty() ? reading : turned;
}

TraceVerdict judge_absorption_of(const Material& material, const TraceKind& causal,
                                 const TraceKind& diffusion) {
  const auto [sink, queries] = excess_of(material, causal, "position_0");
  const Part is_sink =
      judge(sink, {"excess share of position 0 in the autoregressive model", Side::kAbove, 0, kExcessMargin});
  const auto higher = [&](const std::string& name, const std::string& selector) {
    Reading difference = excess_difference(material, causal, diffusion, selector, queries);
    for (auto& row : difference.rows) row.samples = std::min(row.samples, diffusion.samples);
    return judge(difference, {name + ", autoregressive minus diffusion", Side::kAbove, 0, kExcessMargin});
  };
  const Part at_0 = higher("excess share of position 0", "position_0");
  const Part largest = higher("excess share of the largest position", "top_1");

  TraceVerdict out = judge_trace(fmt::format("{} against {}", causal.label, diffusion.label),
                                 std::vector<Part>{is_sink, at_0, largest});
  // A sink alone is not the claim: what is claimed is that it is the stronger one.
  if (at_0.finding == Finding::kAgainst && largest.finding == Finding::kAgainst)
    out.verdict = Verdict::kContradicted;
  if (!sink.rows.empty() && queries == "all")
    out.evidence += "; of all queries, for lack of groups of the answer";
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
  const Part angle = judge(row("slope of the fraction due to angle"),
                           {"slope of the fraction due to angle" + by, Side::kAbove, 0, kFractionMargin});
  const Part scale = judge(row("slope of the fraction due to scale"),
                           {"slope of the fraction due to scale" + by, Side::kBelow, 0, kFractionMargin});
  TraceVerdict out = judge_trace(trace.label, std::vector<Part>{angle, scale});
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
  ClaimVerdict claim;
  claim.id = "C1";
  claim.claim = "Anchors shift right over the denoising steps in each layer.";
  claim.test = fmt::format(
      "Diffusion traces, heads averaged, all positions, all layers: Spearman of the largest position with "
      "the "
      "step above 0, the same given the unmasking frontier, anchors that move in most samples (static below "
      "{:g}), "
      "and more than half of the layers above 0 with none below. Contradicted when Spearman is below 0 or "
      "within "
      "{:g} of it, or when anchors stay put (static at least {:g}).",
      kMostlyStatic, kSpearmanMargin, kAllStatic);
  return over_diffusion(std::move(claim), material, judge_drift_of);
}

ClaimVerdict judge_depth(const Material& material) {
  ClaimVerdict claim;
  claim.id = "C2";
  claim.claim = "Shallow layers have several spread anchors, deep layers fewer and sharper ones.";
  claim.test = fmt::format(
      "Diffusion traces, slopes over depth of straight lines fitted through the layers, per head and with "
      "heads averaged: size of the three-sigma set (or that of `epsilon`) below 0, "
      "entropy of received attention below 0, share of the largest above 0. A slope "
      "is "
      "absent when its interval lies within {:g} positions, {:g} nats, {:g} of attention.",
      kSetSizeMargin, kEntropyMargin, kTopShareMargin);
  return over_diffusion(std::move(claim), material, judge_depth_of);
}

ClaimVerdict judge_absorption(const Material& material) {
  ClaimVerdict claim;
  claim.id = "C4";
  claim.claim =
      "Autoregressive models have a rigid sink at the first token; in masked-diffusion models absorption is "
      "weaker "
      "and distributed.";
  claim.test = fmt::format(
      "Every autoregressive against every diffusion trace, final row, head by head, all layers, by the "
      "queries "
      "of the answer (of all where these are not apart): excess share (share - floor) / (seen - floor), "
      "which "
      "is the same for the same sink under every mask and at every length. Supported when that of position 0 "
      "in the autoregressive model is above 0, and those of position 0 and of the largest position lie above "
      "the diffusion model's (paired differences). Contradicted when both lie below. What lies within {:g} "
      "of 0 "
      "is absent. Assumes the same prompts.",
      kExcessMargin);
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
  ClaimVerdict claim;
  claim.id = "C5";
  claim.claim = "Floating columns win by angle and norm in shallow layers, mainly by angle in deep ones.";
  claim.test = fmt::format(
      "Diffusion traces, columns that float in the head itself, after the rotation, slopes over depth "
      "of straight lines fitted through the layers: fraction of the advantage due to angle above 0, fraction "
      "due to scale below 0. Absent "
      "when the "
      "interval lies within {:g} of 0.",
      kFractionMargin);
  return over_diffusion(std::move(claim), material, judge_split_of);
}

}  // namespace buoy::claims
