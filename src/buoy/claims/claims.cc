#include "buoy/claims/claims.h"

#include <algorithm>
#include <cmath>

#include "buoy/base/attempt.h"
#include "buoy/base/sha256.h"
#include "buoy/claims/claims_judges.h"
#include "buoy/result/schema/claims.h"

namespace buoy::claims {
namespace {

const std::string kOverall = "overall";

std::vector<TraceKind> of_kind(std::span<const TraceKind> traces, bool masked_diffusion) {
  std::vector<TraceKind> out;
  std::copy_if(traces.begin(), traces.end(), std::back_inserter(out), [&](const TraceKind& trace) {
    return trace.masked_diffusion == masked_diffusion && trace.about.control.empty();
  });
  return out;
}

// The numbers of all traces, each once.
void gather_quantities(ClaimVerdict& claim) {
  std::vector<NetworkQuantity> all;
  for (const auto& trace : claim.by_trace)
    all.insert(all.end(), trace.quantities.begin(), trace.quantities.end());
  all.insert(all.end(), claim.quantities.begin(), claim.quantities.end());  // those beside
  for (auto& one : all) one.claim = claim.id;
  claim.quantities = std::move(all);
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSupported:
      return "supported";
    case Verdict::kContradicted:
      return "contradicted";
    case Verdict::kNoDifference:
      return "no difference beyond the margin";
    case Verdict::kMixed:
      return "mixed";
    case Verdict::kUndecided:
      return "not decided";
    case Verdict::kNotTestable:
      break;
  }
  return "not testable with this data";
}

ClaimVerdict verdict_on(std::string_view id) {
  const ClaimRule& rule = rule_of(id);
  ClaimVerdict claim;
  claim.id = rule.id;
  claim.claim = rule.claim;
  claim.test = test_of(rule);
  return claim;
}

std::vector<TraceKind> Material::diffusion() const {
  return of_kind(traces, true);
}

std::vector<TraceKind> Material::autoregressive() const {
  return of_kind(traces, false);
}

std::vector<TraceKind> Material::beside(bool masked_diffusion) const {
  std::vector<TraceKind> out;
  std::copy_if(traces.begin(), traces.end(), std::back_inserter(out), [&](const TraceKind& trace) {
    return trace.masked_diffusion != masked_diffusion || !trace.about.control.empty();
  });
  return out;
}

std::vector<TraceKind> Material::controls_of(const TraceKind& trace) const {
  std::vector<TraceKind> out;
  std::copy_if(traces.begin(), traces.end(), std::back_inserter(out), [&](const TraceKind& other) {
    return !other.about.control.empty() && other.masked_diffusion == trace.masked_diffusion &&
           other.about.mask == trace.about.mask && other.data == trace.data;
  });
  return out;
}

Reading Material::read(const TraceKind& trace, const Lookup& lookup) const {
  Reading out = claims::read(tables, trace, lookup);
  if (!trace.about.control.empty() || out.rows.size() != 1) return out;
  double sum = 0, count = 0;
  for (const auto& control : controls_of(trace)) {
    const auto rows = claims::read(tables, control, lookup).rows;
    if (rows.size() == 1 && std::isfinite(rows[0].value)) sum += rows[0].value, ++count;
  }
  if (count > 0) out.control = sum / count;
  return out;
}

Network TraceKind::traced() const {
  Network out = about;
  out.name = network.empty() ? label : network;
  out.masked_diffusion = masked_diffusion;
  return out;
}

Network Background::network(const std::string& called, bool masked_diffusion) const {
  const auto alias = aliases.find(called);
  const std::string& name = alias == aliases.end() ? called : alias->second;
  const auto found =
      std::find_if(networks.begin(), networks.end(), [&](const Network& one) { return one.name == name; });
  Network out = found == networks.end() ? Network{name} : *found;
  out.masked_diffusion = masked_diffusion;
  return out;
}

std::string Background::questions_of(const std::string& run, const Network& network,
                                     const std::string& data) const {
  const auto found = questions.find({run, network.name});
  return found == questions.end() ? "" : sha256_hex(found->second + "\n" + data);
}

std::string Background::tasks_of(const std::string& network) const {
  const auto found = tasks.find(network);
  return found == tasks.end() ? "" : found->second;
}

std::vector<ClaimVerdict> judge_claims(std::span<const Table> tables, std::span<const TraceKind> traces,
                                       const Background& background) {
  struct Judge {
    const char* id;
    ClaimVerdict (*judge)(const Material& material);
  };
  constexpr Judge kJudges[] = {{"C1", judge_drift},      {"C2", judge_depth}, {"C3", judge_tasks},
                               {"C4", judge_absorption}, {"C5", judge_split}, {"C6", judge_content},
                               {"C7", judge_gain},       {"C8", judge_flow},  {"C9", judge_middle},
                               {"C10", judge_cause}};
  const Material material{tables, traces, background};
  std::vector<ClaimVerdict> verdicts;
  for (const auto& [id, judge] : kJudges) {
    ClaimVerdict verdict;
    const auto failure = attempt([&, judge = judge] { verdict = judge(material); });
    if (failure) {
      verdict = {};
      verdict.id = id;
      verdict.failure = *failure;
      verdict.needs = "left out: " + *failure;
    }
    gather_quantities(verdict);
    std::vector<Network> judged;
    for (const auto& trace : verdict.by_trace)
      judged.insert(judged.end(), trace.networks.begin(), trace.networks.end());
    auto numbers = verdict.quantities;
    numbers.insert(numbers.end(), background.siblings.begin(), background.siblings.end());
    verdict.kinds = judge_kinds(rule_of(id), numbers, judged);
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

Table claims_table(std::span<const ClaimVerdict> verdicts) {
  const auto& t = schema::claims;
  Table table(t);
  const auto text = [](const std::string& value) { return value.empty() ? Cell{} : Cell{value}; };
  const auto add = [&](const ClaimVerdict& claim, const TraceVerdict& one) {
    table.add({{t.id, claim.id},
               {t.trace, one.trace},
               {t.verdict, std::string(name_of(one.verdict))},
               {t.claim, claim.claim},
               {t.test, claim.test},
               {t.evidence, text(one.evidence)},
               {t.needs, text(one.needs)},
               {t.parts, text(one.parts)},
               {t.kinds, one.trace == kOverall ? text(claim.kinds.words) : Cell{}},
               {t.rules, rules_hash()}});
  };
  for (const auto& claim : verdicts) {
    add(claim, {kOverall, claim.verdict, claim.evidence, claim.needs, claim.parts, {}, {}});
    for (const auto& one : claim.by_trace) add(claim, one);
  }
  return table;
}

}  // namespace buoy::claims
