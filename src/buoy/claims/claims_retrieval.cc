#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "buoy/claims/claims_judges.h"
#include "buoy/claims/corrected.h"
#include "buoy/result/rule_names.h"
#include "buoy/result/schema/flow.h"
#include "buoy/result/schema/retrieval.h"
#include "buoy/result/schema/structure.h"

namespace buoy::claims {
namespace {

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

std::vector<Question> ask_structural(const Material& material, const TraceKind& trace) {
  const auto slope = [&](const QuantityRule& rule, const std::string& quantity, const std::string& by) {
    return ask(material.read(trace, structure_row(material, quantity, "structural")),
               {rule, std::string(rule.what) + by, by.empty() ? "" : set_rule(material)});
  };
  return {slope(rules::kStructuralShare, "floating_share", by_other_rule(set_rule(material))),
          slope(rules::kStructuralLift, "lift", "")};
}

std::vector<Question> ask_gold_lift(const Material& material, const TraceKind& trace) {
  std::vector<Question> out;
  for (const std::string token_class : {"gold", "evidence"}) {
    out.push_back(ask(material.read(trace, structure_row(material, "lift", token_class)),
                      {rules::kContentLift, "slope of the lift of " + token_class, token_class}));
  }
  return out;
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

std::vector<Question> ask_retrieval_depth(const Material& material, const TraceKind& whole_trace) {
  const TraceKind trace = scored_samples(material, whole_trace);
  const auto row = [&](const std::string& variant, const std::string& statistic) {
    const auto& t = schema::retrieval_summary;
    return material.read(trace, {t, {{t.variant, variant}, {t.statistic, statistic}}, t.value});
  };
  std::vector<Question> out;
  for (const std::string variant : {"strict_set", "mass"}) {
    const Reading pearson = row(variant, "pearson of layer and layer mean");
    const Reading shallow = row(variant, "mean score of the shallow third");
    const Reading deep = row(variant, "mean score of the deep third");
    out.push_back([=](double alpha) {
      Part part = judge(pearson, {rules::kRetrieval, "Pearson of layer and " + variant, variant}, alpha);
      if (!shallow.rows.empty() && !deep.rows.empty())
        part.words += fmt::format(" with {} in the shallow third and {} in the deep one",
                                  words_of(shallow.rows[0]), words_of(deep.rows[0]));
      return part;
    });
  }
  return out;
}

// All quantities are corrected together, then each of the three is what its own say.
TraceVerdict judge_content_of(const Material& material, const TraceKind& trace) {
  const std::pair<const char*, std::vector<Question>> groups[] = {
      {"(a) structure falls", ask_structural(material, trace)},
      {"(b) retrieval rises", ask_retrieval_depth(material, trace)},
      {"(c) gold rises", ask_gold_lift(material, trace)}};
  std::vector<Question> questions;
  for (const auto& [name, own] : groups) questions.insert(questions.end(), own.begin(), own.end());
  const auto parts = decide(questions);
  std::vector<Part> groups_together;
  std::size_t begin = 0;
  for (const auto& [name, own] : groups) {
    groups_together.push_back(merged(name, std::span(parts).subspan(begin, own.size())));
    begin += own.size();
  }
  return judge_trace(trace, groups_together);
}

TraceVerdict judge_gold_flow(const Material& material, const TraceKind& trace) {
  const auto& t = schema::flow_gold_by_layer;
  const auto by_layer = [&](const std::string& position) {
    return material.read(trace,
                         {t, {{t.gold_position, position}}, t.gold_over_distractors, &t.samples, &t.layer});
  };
  const Reading all = by_layer("all");
  if (all.rows.empty()) {
    const Part lacking{Finding::kLacking, "gold against distractors not defined", all.lacking};
    return judge_trace(trace, std::span(&lacking, 1));
  }
  std::vector<Question> questions;
  std::vector<std::string> places;
  const auto rows = find_table(material.tables, t).where({{schema::trace, trace.label}});
  for (const auto& position : rows.distinct(t.gold_position)) {
    if (position == "all") continue;
    const Reading here = by_layer(position);
    if (here.rows.empty()) continue;
    places.push_back(position);
    questions.push_back(
        ask_layers(deep_third(here), {rules::kGoldFlow, "gold at " + position, "gold at " + position}));
  }
  auto parts = decide(questions);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (auto& one : parts[i].measured) one.value += " with gold at place " + places[i];
  }
  if (parts.size() < rules::kFewestGoldPositions) {
    parts.push_back(
        {Finding::kLacking, fmt::format("gold stands at {} positions", parts.size()),
         fmt::format("data with the gold document at {} positions or more", rules::kFewestGoldPositions)});
  }
  TraceVerdict out = judge_trace(trace, parts);
  const Expectation deep(rules::kGoldFlow, "all positions together, deep third");
  const Expectation whole(rules::kGoldFlow, "all positions, whole depth");
  out.evidence += "; " + judge_layers(deep_third(all), deep).words;
  out.evidence += "; " + judge_layers(all.rows, whole).words;
  return out;
}

TraceVerdict judge_first_token_flow(const Material& material, const TraceKind& trace) {
  const auto& t = schema::flow_by_layer;
  const Reading reading = material.read(
      trace,
      {t, {{t.queries, "answer"}, {t.steps, "mean"}, {t.region, "bos"}}, t.lift, &t.samples, &t.layer});
  Part part = judge_layers(deep_third(reading),
                           {rules::kFirstTokenFlow, "answer to BOS over even attention, deep third"});
  if (!reading.lacking.empty()) part.lacking = reading.lacking;
  TraceVerdict out = judge_trace(trace, std::span(&part, 1));
  if (!reading.rows.empty())
    out.evidence += "; " + judge_layers(reading.rows, {rules::kFirstTokenFlow, "whole depth"}).words;
  return out;
}

bool testable(std::span<const TraceVerdict> verdicts) {
  return std::any_of(verdicts.begin(), verdicts.end(),
                     [](const TraceVerdict& one) { return one.verdict != Verdict::kNotTestable; });
}

}  // namespace

// Several numbers for one part: all that are defined must agree.
Part merged(const std::string& name, std::span<const Part> parts) {
  std::vector<Part> defined;
  std::vector<std::string> words;
  std::vector<Number> numbers;
  std::vector<Measured> measured;
  for (const auto& part : parts) {
    if (part.finding == Finding::kLacking) continue;
    defined.push_back(part);
    words.push_back(part.words);
    numbers.insert(numbers.end(), part.numbers.begin(), part.numbers.end());
    measured.insert(measured.end(), part.measured.begin(), part.measured.end());
  }
  if (defined.empty())
    return {Finding::kLacking, name + " not testable", parts.empty() ? std::string() : parts[0].lacking};
  const Verdict verdict = combine(defined);
  const Finding finding = verdict == Verdict::kSupported      ? Finding::kFor
                          : verdict == Verdict::kContradicted ? Finding::kAgainst
                          : verdict == Verdict::kNoDifference ? Finding::kEqual
                          : verdict == Verdict::kMixed        ? Finding::kSplit
                                                              : Finding::kUndecided;
  return {
      finding, fmt::format("{} {}: {}", name, name_of(verdict), join(words, ", ")), {}, measured, numbers};
}

ClaimVerdict judge_content(const Material& material) {
  return over_diffusion(verdict_on("C6"), material, judge_content_of);
}

ClaimVerdict judge_flow(const Material& material) {
  ClaimVerdict claim = verdict_on("C8");
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
  add_numbers(claim, material.beside(true),
              [&](const TraceKind& trace) { return judge_gold_flow(material, trace); });
  add_numbers(claim, material.beside(false),
              [&](const TraceKind& trace) { return judge_first_token_flow(material, trace); });
  return claim;
}

}  // namespace buoy::claims
