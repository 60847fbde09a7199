#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "buoy/base/error.h"
#include "buoy/claims/claims_judges.h"
#include "buoy/claims/corrected.h"
#include "buoy/result/rule_names.h"
#include "buoy/result/schema/absorption.h"
#include "buoy/result/schema/drift.h"
#include "buoy/result/schema/floating.h"
#include "buoy/result/schema/qk.h"

namespace buoy::claims {
namespace {

Lookup drift_row(const std::string& scalar) {
  const auto& t = schema::drift_summary;
  return {t,
          {{t.view, "head_mean"}, {t.positions, "all"}, {t.scalar, scalar}, {t.depth, "all layers"}},
          t.value,
          &t.samples};
}

bool stays_put(const DriftParts& parts) {
  return parts.still.finding == Finding::kAgainst && parts.still_lower >= rules::kAllStatic &&
         parts.step.finding != Finding::kFor && parts.given_frontier.finding != Finding::kFor;
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
  const DriftParts all{step, given, moves, layers, still.rows.empty() ? 0 : still.rows[0].lower};
  out.verdict = drift_verdict(all);
  if (stays_put(all)) {
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
      const std::string detail = view + (trend.of_a_set ? by_other_rule(rule) : "");
      questions.push_back(ask(material.read(trace, row), {trend.rule, name, detail}));
    }
  }
  return judge_trace(trace, decide(questions));
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

// The mean excess share over the controls of a trace; NaN: there are none.
double excess_of_controls(const Material& material, const TraceKind& trace, const std::string& selector) {
  double sum = 0, count = 0;
  for (const auto& control : material.controls_of(trace)) {
    const auto rows = excess_of(material, control, selector).reading.rows;
    if (!rows.empty()) sum += rows[0].value, ++count;
  }
  return sum / count;
}

TraceVerdict judge_absorption_of(const Material& material, const TraceKind& causal,
                                 const TraceKind& diffusion) {
  const auto [sink, queries] = excess_of(material, causal, "position_0");
  const auto higher = [&](const QuantityRule& rule, const std::string& selector) {
    Reading difference = excess_difference(material, causal, diffusion, selector, queries);
    for (auto& row : difference.rows) row.samples = std::min(row.samples, diffusion.samples);
    difference.control =
        excess_of_controls(material, causal, selector) - excess_of_controls(material, diffusion, selector);
    return ask(difference, Expectation(rule));
  };
  const auto parts = decide(std::vector<Question>{ask(sink, Expectation(rules::kSink)),
                                                  higher(rules::kFirstColumn, "position_0"),
                                                  higher(rules::kLargestColumn, "top_1")});
  TraceVerdict out = judge_trace(fmt::format("{} against {}", causal.label, diffusion.label), parts);
  out.networks = {causal.traced(), diffusion.traced()};
  out.verdict = absorption_verdict(parts);
  if (!sink.rows.empty() && queries == "all")
    out.evidence += "; of all queries, for lack of groups of the answer";
  return out;
}

// The numbers of one network, of either arm: differences are made of these.
void add_excess(const Material& material, const TraceKind& trace, ClaimVerdict& claim) {
  constexpr std::pair<std::string_view, const char*> kColumns[] = {{rules::kExcessOfFirst, "position_0"},
                                                                   {rules::kExcessOfLargest, "top_1"}};
  for (const auto& [quantity, selector] : kColumns) {
    const auto [reading, queries] = excess_of(material, trace, selector);
    if (reading.rows.empty()) continue;
    const std::string detail = queries == "all" ? ": of all queries" : "";
    claim.quantities.push_back(
        {"", std::string(quantity) + detail, trace.traced(), trace.data, trace.questions, reading.rows[0]});
  }
}

TraceVerdict judge_split_of(const Material& material, const TraceKind& trace) {
  const auto& t = schema::qk_depth;
  const std::string rule = sigma_rule(find_table(material.tables, t), t.set);
  const std::string set = rule + "_head", by = by_other_rule(rule);
  const std::string detail = by.empty() ? "" : rule;
  const auto row = [&](const std::string& statistic) {
    return material.read(
        trace, {t, {{t.set, set}, {t.stage, "after"}, {t.statistic, statistic}}, t.value, &t.samples});
  };
  const auto slope = [&](const QuantityRule& rule) {
    return ask(row(std::string(rule.what)), {rule, std::string(rule.what) + by, detail});
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

}  // namespace

void add_numbers(ClaimVerdict& claim, std::span<const TraceKind> traces,
                 const std::function<TraceVerdict(const TraceKind&)>& judge_one) {
  for (const auto& trace : traces) {
    const auto beside = judge_one(trace).quantities;
    claim.quantities.insert(claim.quantities.end(), beside.begin(), beside.end());
  }
}

ClaimVerdict over_diffusion(ClaimVerdict claim, const Material& material,
                            TraceVerdict (*judge_one)(const Material&, const TraceKind&)) {
  for (const auto& trace : material.diffusion()) claim.by_trace.push_back(judge_one(material, trace));
  if (claim.by_trace.empty()) {
    claim.evidence = "There is no trace of a masked-diffusion model.";
    claim.needs = kNeedsDiffusion;
  } else {
    conclude(claim, combine(claim.by_trace));
  }
  add_numbers(claim, material.beside(true), [&](const auto& trace) { return judge_one(material, trace); });
  return claim;
}

Verdict drift_verdict(const DriftParts& parts) {
  const auto& [step, given, moves, layers, still_lower] = parts;
  // That anchors move is a condition of the claim, and no evidence for a direction.
  Verdict out = combine(std::span<const Part>(moves.finding == Finding::kFor
                                                  ? std::vector<Part>{step, given, layers}
                                                  : std::vector<Part>{step, given, moves, layers}));
  if (step.finding == Finding::kAgainst && given.finding != Finding::kFor && layers.finding != Finding::kFor)
    out = Verdict::kContradicted;
  return stays_put(parts) ? Verdict::kContradicted : out;
}

Verdict absorption_verdict(std::span<const Part> parts) {
  BUOY_CHECK(parts.size() == 3);
  // A sink alone is not the claim: what is claimed is that it is the stronger one.
  if (parts[1].finding == Finding::kAgainst && parts[2].finding == Finding::kAgainst)
    return Verdict::kContradicted;
  return combine(parts);
}

ClaimVerdict judge_drift(const Material& material) {
  return over_diffusion(verdict_on("C1"), material, judge_drift_of);
}

ClaimVerdict judge_depth(const Material& material) {
  return over_diffusion(verdict_on("C2"), material, judge_depth_of);
}

ClaimVerdict judge_absorption(const Material& material) {
  ClaimVerdict claim = verdict_on("C4");
  const auto causal = material.autoregressive(), diffusion = material.diffusion();
  for (const auto& trace : material.traces) add_excess(material, trace, claim);
  if (causal.empty() || diffusion.empty()) {
    claim.evidence = "There are not both kinds of traces.";
    claim.needs = causal.empty() ? kNeedsAutoregressive : kNeedsDiffusion;
    return claim;
  }
  const auto alike = [](const TraceKind& one, const TraceKind& other) {
    return !one.data.empty() && one.data == other.data;
  };
  const bool any_alike = std::any_of(causal.begin(), causal.end(), [&](const auto& one) {
    return std::any_of(diffusion.begin(), diffusion.end(),
                       [&](const auto& other) { return alike(one, other); });
  });
  for (const auto& one : causal) {
    for (const auto& other : diffusion) {
      if (any_alike && !alike(one, other)) continue;
      claim.by_trace.push_back(judge_absorption_of(material, one, other));
    }
  }
  conclude(claim, combine(claim.by_trace));
  return claim;
}

ClaimVerdict judge_split(const Material& material) {
  return over_diffusion(verdict_on("C5"), material, judge_split_of);
}

}  // namespace buoy::claims
