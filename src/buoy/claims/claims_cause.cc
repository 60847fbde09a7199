#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "buoy/claims/claims_judges.h"
#include "buoy/result/schema/evaluation.h"
#include "buoy/result/table_advice.h"

namespace buoy::claims {
namespace {

constexpr const auto& kColumns = schema::eval_columns;
constexpr double kMargin = 0.05;  // a drop below this is none

// Of a model on a set: the thirds of the depth, floating columns against random and against structural ones.
struct Thirds {
  std::set<std::string> matter;  // those in which floating columns cost more than both others
  bool none = true;              // in every third they cost no more than one of the others
  std::int64_t items = 0;        // the fewest that a number rests on
  std::string evidence;
};

Thirds look_at_thirds(const TableView& rows) {
  Thirds out;
  for (const auto& third : rows.distinct(kColumns.third)) {
    bool more_than_all = true, like_one = false;
    std::string text;
    double seen = 0, floating = 0;
    for (const auto& against : rows.where({{kColumns.third, third}}).distinct(kColumns.against)) {
      const auto row = rows.where({{kColumns.third, third}, {kColumns.against, against}});
      const Estimate difference = estimate_in(row, kColumns.difference);
      seen = row.number(kColumns.seen);
      const auto items = static_cast<std::int64_t>(row.number(kColumns.items));
      out.items = out.items == 0 ? items : std::min(out.items, items);
      floating = row.number(kColumns.floating);
      text += fmt::format(", {} columns {:.3g} (difference {})", against, row.number(kColumns.others),
                          words_of(difference));
      more_than_all = more_than_all && difference.upper < -kMargin;
      like_one = like_one || difference.lower > -kMargin;
    }
    if (more_than_all) out.matter.insert(third);
    out.none = out.none && like_one;
    out.evidence += fmt::format("{}{} third: exact match {:.3g}, without floating columns {:.3g}{}",
                                out.evidence.empty() ? "" : "; ", third, seen, floating, text);
  }
  return out;
}

// The models of one run on one set. What matters to an autoregressive model in the same layers is nothing
// that sets masked diffusion apart.
void judge_set(const TableView& rows, const std::string& run, ClaimVerdict& claim, std::string& others) {
  std::set<std::string> shared;
  for (const auto& model : rows.where({{kColumns.kind, "autoregressive"}}).distinct(kColumns.model)) {
    const auto thirds = look_at_thirds(rows.where({{kColumns.model, model}}));
    shared.insert(thirds.matter.begin(), thirds.matter.end());
    others += fmt::format(" Beside it, {}{}: {}.", run, model, thirds.evidence);
  }
  for (const auto& model : rows.where({{kColumns.kind, "masked diffusion"}}).distinct(kColumns.model)) {
    const auto of_model = rows.where({{kColumns.model, model}});
    const auto thirds = look_at_thirds(of_model);
    TraceVerdict verdict;
    verdict.trace = fmt::format("{}{} on {}", run, model, of_model.distinct(kColumns.set).front());
    verdict.evidence = thirds.evidence;
    const bool own = std::any_of(thirds.matter.begin(), thirds.matter.end(),
                                 [&](const std::string& third) { return !shared.contains(third); });
    const bool shares = !thirds.matter.empty() && !own;
    if (shares)
      verdict.evidence += "; where floating columns matter, they matter to the autoregressive model too";
    verdict.verdict = own           ? Verdict::kSupported
                      : shares      ? Verdict::kMixed
                      : thirds.none ? Verdict::kContradicted
                                    : Verdict::kUndecided;
    if (thirds.items < kFewestSamples) {
      verdict.verdict = Verdict::kUndecided;
      verdict.evidence += fmt::format(" ({})", too_few(thirds.items));
    }
    claim.by_trace.push_back(std::move(verdict));
  }
}

}  // namespace

ClaimVerdict judge_cause(const Material& material) {
  ClaimVerdict claim;
  claim.id = "C10";
  claim.claim = "Floating explains strong in-context learning.";
  claim.test = fmt::format(
      "Exact match with passages when floating columns of a third of the layers are hidden (never the answer "
      "itself) minus that when as many random or structural ones are, item by item: supported when in some "
      "third both intervals lie below -{0} and an autoregressive model beside it shows no such third, "
      "contradicted when in every third one of them lies above.",
      kMargin);
  const auto table = find_table(material.tables, kColumns);
  std::string others;
  if (!table.empty()) {
    const std::vector<std::string> runs =
        table.has(schema::trace) ? table.distinct(schema::trace) : std::vector<std::string>{""};
    for (const auto& run : runs) {
      const auto of_run = run.empty() ? table : table.where({{schema::trace, run}});
      for (const auto& set : of_run.distinct(kColumns.set))
        judge_set(of_run.where({{kColumns.set, set}}), run.empty() ? "" : run + ": ", claim, others);
    }
  }
  if (claim.by_trace.empty()) {
    claim.evidence = "The claim is causal; a trace only observes.";
    claim.needs = how_to_get(kColumns);
    return claim;
  }
  conclude(claim, combine(std::span<const TraceVerdict>(claim.by_trace)));
  claim.evidence += others;
  return claim;
}

}  // namespace buoy::claims
