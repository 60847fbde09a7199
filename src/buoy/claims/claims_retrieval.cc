#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "buoy/claims/claims_judges.h"
#include "buoy/result/rule_names.h"
#include "buoy/result/schema/flow.h"
#include "buoy/result/schema/retrieval.h"
#include "buoy/result/schema/structure.h"

namespace buoy::claims {
namespace {

constexpr double kShareMargin = 0.02;
constexpr double kLiftMargin = 0.05;  // C6: of a slope over depth; C8: of the lift itself
constexpr double kPearsonMargin = 0.1;
constexpr size_t kFewestGoldPositions = 3;  // "wherever it is": beginning, middle and end

// Several numbers for one part: all that are defined must agree.
Part merge(const std::string& name, std::span<const Part> parts) {
  std::vector<Part> defined;
  std::vector<std::string> words;
  for (const auto& part : parts) {
    if (part.finding == Finding::kLacking) continue;
    defined.push_back(part);
    words.push_back(part.words);
  }
  if (defined.empty())
    return {Finding::kLacking, name + " not testable", parts.empty() ? std::string() : parts[0].lacking};
  const Verdict verdict = combine(defined);
  const Finding finding = verdict == Verdict::kSupported      ? Finding::kFor
                          : verdict == Verdict::kContradicted ? Finding::kAgainst
                          : verdict == Verdict::kMixed        ? Finding::kSplit
                                                              : Finding::kUndecided;
  return {finding, fmt::format("{} {}: {}", name, name_of(verdict), join(words, ", ")), {}};
}

std::string set_rule(const Material& material) {
  const auto& t = schema::structure_depth;
  return sigma_rule(find_table(material.tables, t), t.rule);
}

Lookup structure_row(const Material& material, const std::string& quantity, const std::string& token_class) {
  const bool floating = quantity == "floating_share";
  const auto& t = schema::structure_depth;
  return {t,
          {{t.quantity, quantity},
           {t.token_class, token_class},
           {t.queries, floating ? "" : "all"},
           {t.rule, floating ? set_rule(material) : ""},
           {t.view, floating ? "per_head" : ""},
           {t.depth, "slope"}},
          t.value,
          &t.samples};
}

Part judge_structural(const Material& material, const TraceKind& trace) {
  const std::vector<Part> parts = {
      judge(material.read(trace, structure_row(material, "floating_share", "structural")),
            {"slope of the structural share of floating tokens" + by_other_rule(set_rule(material)),
             Side::kBelow, 0, kShareMargin}),
      judge(material.read(trace, structure_row(material, "lift", "structural")),
            {"slope of the lift of structural tokens", Side::kBelow, 0, kLiftMargin})};
  return merge("(a) structure falls", parts);
}

Part judge_gold_lift(const Material& material, const TraceKind& trace) {
  std::vector<Part> parts;
  for (const std::string token_class : {"gold", "evidence"}) {
    parts.push_back(judge(material.read(trace, structure_row(material, "lift", token_class)),
                          {"slope of the lift of " + token_class, Side::kAbove, 0, kLiftMargin}));
  }
  return merge("(c) gold rises", parts);
}

// retrieval_summary does not count samples, retrieval_tests does.
TraceKind scored_samples(const Material& material, TraceKind trace) {
  const auto& t = schema::retrieval_tests;
  const Reading tests =
      material.read(trace, {t, {{t.what, "tests (samples scored)"}}, EstimateColumns(t.value)});
  if (!tests.rows.empty() && std::isfinite(tests.rows[0].value))
    trace.samples = std::min(trace.samples, static_cast<std::int64_t>(tests.rows[0].value));
  return trace;
}

Part judge_retrieval_depth(const Material& material, const TraceKind& whole_trace) {
  const TraceKind trace = scored_samples(material, whole_trace);
  const auto row = [&](const std::string& variant, const std::string& statistic) {
    const auto& t = schema::retrieval_summary;
    return material.read(trace, {t, {{t.variant, variant}, {t.statistic, statistic}}, t.value});
  };
  std::vector<Part> parts;
  for (const std::string variant : {"strict_set", "mass"}) {
    parts.push_back(judge(row(variant, "pearson of layer and layer mean"),
                          {"Pearson of layer and " + variant, Side::kAbove, 0, kPearsonMargin}));
    const Reading shallow = row(variant, "mean score of the shallow third");
    const Reading deep = row(variant, "mean score of the deep third");
    if (shallow.rows.empty() || deep.rows.empty()) continue;
    parts.back().words += fmt::format(" with {} in the shallow third and {} in the deep one",
                                      words_of(shallow.rows[0]), words_of(deep.rows[0]));
  }
  return merge("(b) retrieval rises", parts);
}

TraceVerdict judge_gold_flow(const Material& material, const TraceKind& trace) {
  const auto& t = schema::flow_gold_by_layer;
  const auto by_layer = [&](const std::string& position) {
    return material.read(trace,
                         {t, {{t.gold_position, position}}, t.gold_over_distractors, &t.samples, &t.layer});
  };
  const Reading all = by_layer("all");
  std::vector<Part> parts;
  if (all.rows.empty()) {
    parts.push_back({Finding::kLacking, "gold against distractors not defined", all.lacking});
    return judge_trace(trace.label, parts);
  }
  const auto rows = find_table(material.tables, t).where({{schema::trace, trace.label}});
  for (const auto& position : rows.distinct(t.gold_position)) {
    if (position == "all") continue;
    const Reading here = by_layer(position);
    if (here.rows.empty()) continue;
    parts.push_back(judge_layers(deep_third(here), {"gold at " + position, Side::kAbove, 1, kLiftMargin}));
  }
  if (parts.size() < kFewestGoldPositions) {
    parts.push_back(
        {Finding::kLacking, fmt::format("gold stands at {} positions", parts.size()),
         fmt::format("data with the gold document at {} positions or more", kFewestGoldPositions)});
  }
  TraceVerdict out = judge_trace(trace.label, parts);
  const Expectation above{"all positions together, deep third", Side::kAbove, 1, kLiftMargin};
  out.evidence += "; " + judge_layers(deep_third(all), above).words;
  out.evidence +=
      "; " + judge_layers(all.rows, {"all positions, whole depth", Side::kAbove, 1, kLiftMargin}).words;
  return out;
}

TraceVerdict judge_first_token_flow(const Material& material, const TraceKind& trace) {
  const auto& t = schema::flow_by_layer;
  const Reading reading = material.read(
      trace,
      {t, {{t.queries, "answer"}, {t.steps, "mean"}, {t.region, "bos"}}, t.lift, &t.samples, &t.layer});
  Part part = judge_layers(deep_third(reading),
                           {"answer to BOS over even attention, deep third", Side::kAbove, 1, kLiftMargin});
  if (!reading.lacking.empty()) part.lacking = reading.lacking;
  TraceVerdict out = judge_trace(trace.label, std::span(&part, 1));
  if (!reading.rows.empty())
    out.evidence += "; " + judge_layers(reading.rows, {"whole depth", Side::kAbove, 1, kLiftMargin}).words;
  return out;
}

bool testable(std::span<const TraceVerdict> verdicts) {
  return std::any_of(verdicts.begin(), verdicts.end(),
                     [](const TraceVerdict& one) { return one.verdict != Verdict::kNotTestable; });
}

}  // namespace

ClaimVerdict judge_content(const Material& material) {
  ClaimVerdict claim;
  claim.id = "C6";
  claim.claim = "Shallow layers attend to structure, deep layers to content.";
  claim.test = fmt::format(
      "Diffusion traces, over depth: (a) structural share of floating tokens and lift of structural tokens "
      "fall; "
      "(b) Pearson of layer and mean retrieval score (strict and mass) above 0; (c) lift of gold and "
      "evidence "
      "rises. Supported when all three hold, contradicted when all three fail. A slope is absent within {:g} "
      "(share) or {:g} (lift) of 0, Pearson within {:g}.",
      kShareMargin, kLiftMargin, kPearsonMargin);
  const auto traces = material.diffusion();
  if (traces.empty()) {
    claim.evidence = "There is no trace of a masked-diffusion model.";
    claim.needs = kNeedsDiffusion;
    return claim;
  }
  for (const auto& trace : traces) {
    const std::vector<Part> parts = {judge_structural(material, trace),
                                     judge_retrieval_depth(material, trace),
                                     judge_gold_lift(material, trace)};
    claim.by_trace.push_back(judge_trace(trace.label, parts));
  }
  conclude(claim, combine(claim.by_trace));
  return claim;
}

ClaimVerdict judge_flow(const Material& material) {
  ClaimVerdict claim;
  claim.id = "C8";
  claim.claim =
      "A diffusion model's flow goes to the gold document wherever it stands, an autoregressive model's to "
      "BOS.";
  claim.test = fmt::format(
      "One-layer attention of the answer over even attention, deep third of the layers. Diffusion: lift of "
      "gold "
      "over that of distractors above 1 at every gold position ({} positions or more). Autoregressive: lift "
      "of BOS "
      "above 1. Each needs more than half of those layers above 1 and none below; within {:g} of 1 counts as "
      "absent. The published rollout is not used: over many layers it shows the mask, not the model.",
      kFewestGoldPositions, kLiftMargin);
  std::vector<TraceVerdict> gold, first;
  for (const auto& trace : material.diffusion()) gold.push_back(judge_gold_flow(material, trace));
  for (const auto& trace : material.autoregressive())
    first.push_back(judge_first_token_flow(material, trace));
  claim.by_trace = gold;
  claim.by_trace.insert(claim.by_trace.end(), first.begin(), first.end());

  const Verdict together = combine(claim.by_trace);
  const bool both = testable(gold) && testable(first);
  if (gold.empty()) claim.needs = kNeedsDiffusion;
  if (first.empty()) claim.needs += (claim.needs.empty() ? "" : "; ") + std::string(kNeedsAutoregressive);
  conclude(claim, both ? together : Verdict::kNotTestable);
  return claim;
}

}  // namespace buoy::claims
