#include "buoy/claims/kind_verdicts.h"

#include <algorithm>
#include <map>

#include "buoy/claims/claims_judges.h"

namespace buoy::claims {
namespace {

using Quantities = std::vector<const KindQuantity*>;  // of the same questions

Part part_of(const KindQuantity& quantity) {
  return {quantity.finding, quantity.words, {}};
}

// Those of one rule, in order.
std::vector<Part> parts_of(const Quantities& all, const QuantityRule& rule) {
  std::vector<Part> out;
  for (const auto* one : all) {
    if (one->rule.what == rule.what) out.push_back(part_of(*one));
  }
  return out;
}

Part single(const Quantities& all, const QuantityRule& rule) {
  const auto parts = parts_of(all, rule);
  return parts.empty() ? Part{} : parts[0];
}

Verdict combined(const Quantities& all) {
  std::vector<Part> parts;
  for (const auto* one : all) parts.push_back(part_of(*one));
  return combine(std::span<const Part>(parts));
}

Verdict of_drift(const Quantities& all) {
  double still_lower = 0;
  for (const auto* one : all) {
    if (one->rule.what == rules::kStatic.what) still_lower = one->estimate.lower;
  }
  const Part step = single(all, rules::kStep), given = single(all, rules::kStepGivenFrontier),
             still = single(all, rules::kStatic), layers = single(all, rules::kStepByLayer);
  return drift_verdict({step, given, still, layers, still_lower});
}

// Place or type is enough for one set of tasks, and both speak against it; all sets are needed.
Verdict of_tasks(const Quantities& all) {
  std::map<std::string, std::vector<Finding>> sets;
  for (const auto* one : all) sets[detail_of(one->rule, one->quantity)].push_back(one->finding);
  std::vector<Part> parts;
  for (const auto& [set, findings] : sets) {
    const auto any = [&, &list = findings](Finding finding) {
      return std::find(list.begin(), list.end(), finding) != list.end();
    };
    const bool all_against = std::all_of(findings.begin(), findings.end(), [](Finding finding) {
      return finding == Finding::kAgainst || finding == Finding::kLacking;
    });
    parts.push_back({any(Finding::kFor)                      ? Finding::kFor
                     : all_against && any(Finding::kAgainst) ? Finding::kAgainst
                     : all_against                           ? Finding::kLacking
                                                             : Finding::kUndecided,
                     {},
                     {}});
  }
  return sets.size() < 2 ? Verdict::kNotTestable : combine(std::span<const Part>(parts));
}

Verdict of_content(const Quantities& all) {
  auto structure = parts_of(all, rules::kStructuralShare);
  const auto lift = parts_of(all, rules::kStructuralLift);
  structure.insert(structure.end(), lift.begin(), lift.end());
  const std::vector<Part> groups = {merged("(a)", structure), merged("(b)", parts_of(all, rules::kRetrieval)),
                                    merged("(c)", parts_of(all, rules::kContentLift))};
  return combine(std::span<const Part>(groups));
}

Verdict of_flow(const Quantities& all) {
  if (parts_of(all, rules::kGoldFlow).size() < rules::kFewestGoldPositions) return Verdict::kNotTestable;
  return combined(all);
}

// Floating columns must cost more than all others; to speak against it, one is enough.
Part of_third(const Quantities& differences) {
  bool all_for = true, any_against = false, any_no_more = false, any_lacking = false;
  for (const auto* one : differences) {
    all_for = all_for && one->finding == Finding::kFor;
    any_against = any_against || one->finding == Finding::kAgainst;
    any_no_more = any_no_more || one->finding == Finding::kEqual;
    any_lacking = any_lacking || one->finding == Finding::kLacking;
  }
  return {any_lacking   ? Finding::kLacking
          : all_for     ? Finding::kFor
          : any_against ? Finding::kAgainst
          : any_no_more ? Finding::kEqual
                        : Finding::kUndecided,
          {},
          {}};
}

std::map<std::string, Part> by_third(const Quantities& all, const QuantityRule& rule) {
  std::map<std::string, Quantities> thirds;
  for (const auto* one : all) {
    if (one->rule.what != rule.what) continue;
    const std::string detail = detail_of(one->rule, one->quantity);
    thirds[detail.substr(0, detail.find(','))].push_back(one);
  }
  std::map<std::string, Part> out;
  for (const auto& [third, differences] : thirds) out[third] = of_third(differences);
  return out;
}

// One third is enough, unless floating columns matter to autoregressive models too, in whatever layers.
Verdict of_cause(const Quantities& all) {
  const auto is_for = [](const auto& third) { return third.second.finding == Finding::kFor; };
  const auto thirds = by_third(all, rules::kHidden), beside = by_third(all, rules::kHiddenBeside);
  if (std::any_of(thirds.begin(), thirds.end(), is_for))
    return std::any_of(beside.begin(), beside.end(), is_for) ? Verdict::kMixed : Verdict::kSupported;
  std::vector<Part> parts;
  for (const auto& [third, part] : thirds) parts.push_back(part);
  return combine(std::span<const Part>(parts));
}

Verdict of_group(const ClaimRule& rule, const Quantities& all) {
  if (rule.id == "C1") return of_drift(all);
  if (rule.id == "C3") return of_tasks(all);
  if (rule.id == "C4")
    return absorption_verdict(std::vector<Part>{single(all, rules::kSink), single(all, rules::kFirstColumn),
                                                single(all, rules::kLargestColumn)});
  if (rule.id == "C6") return of_content(all);
  if (rule.id == "C8") return of_flow(all);
  if (rule.id == "C9")
    return middle_verdict(std::vector<Part>{single(all, rules::kMiddleDrop), single(all, rules::kFirstDrop),
                                            single(all, rules::kLastDrop), single(all, rules::kPlaceTrend)});
  if (rule.id == "C10") return of_cause(all);
  return combined(all);
}

}  // namespace

Verdict kind_verdict(const ClaimRule& rule, std::span<const KindQuantity> quantities) {
  std::vector<std::string> sets;
  for (const auto& one : quantities) {
    if (std::find(sets.begin(), sets.end(), one.data) == sets.end()) sets.push_back(one.data);
  }
  std::vector<TraceVerdict> verdicts;
  for (const auto& data : sets) {
    Quantities all;
    for (const auto& one : quantities) {
      if (one.data == data) all.push_back(&one);
    }
    TraceVerdict verdict;
    verdict.trace = data;
    verdict.verdict = of_group(rule, all);
    verdicts.push_back(std::move(verdict));
  }
  return combine(std::span<const TraceVerdict>(verdicts));
}

}  // namespace buoy::claims
