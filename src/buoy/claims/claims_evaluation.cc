#include <fmt/format.h>

#include <cmath>

#include "buoy/claims/claims_judges.h"
#include "buoy/result/schema/evaluation.h"
#include "buoy/result/table_advice.h"

namespace buoy::claims {
namespace {

constexpr double kTwice = 2;          // what the paper claims of the ratio of gains
constexpr double kDropMargin = 0.05;  // a drop below this is none

std::string run_of(const TableView& row) {
  return row.has(schema::trace) ? row.text(schema::trace) + ": " : "";
}

// Every row of a view as a view of its own.
std::vector<TableView> rows_of(const TableView& view, std::initializer_list<const ColumnSchema*> keys) {
  if (view.empty()) return {};
  std::vector<TableView> todo = {view};
  for (const auto* key : keys) {
    if (!view.has(*key)) continue;
    std::vector<TableView> next;
    for (const auto& part : todo) {
      for (const auto& value : part.distinct(*key)) next.push_back(part.where({{*key, value}}));
    }
    todo = std::move(next);
  }
  return todo;
}

// Few items decide nothing, however well they agree.
bool few_items(double number, TraceVerdict& verdict) {
  const auto items = static_cast<std::int64_t>(number);
  if (items >= kFewestSamples) return false;
  verdict.verdict = Verdict::kUndecided;
  verdict.evidence += fmt::format(" ({})", too_few(items));
  return true;
}

TraceVerdict judge_ratio(const TableView& row) {
  const auto& t = schema::eval_gain_ratio;
  const Estimate ratio = estimate_in(row, t.ratio);
  TraceVerdict verdict;
  verdict.trace = fmt::format("{}{}, {}", run_of(row), row.text(t.set), row.text(t.condition));
  verdict.evidence = fmt::format("gain in exact match: masked diffusion {}, autoregressive {}",
                                 words_of(estimate_in(row, t.diffusion_gain)),
                                 words_of(estimate_in(row, t.autoregressive_gain)));
  if (!std::isfinite(ratio.value)) {
    verdict.needs = "autoregressive models whose gain is surely not zero: otherwise the ratio means nothing";
    return verdict;
  }
  verdict.evidence += fmt::format("; ratio {}", words_of(ratio));
  if (few_items(row.number(t.items), verdict)) return verdict;
  verdict.verdict = ratio.lower > kTwice   ? Verdict::kSupported
                    : ratio.upper < kTwice ? Verdict::kContradicted
                                           : Verdict::kUndecided;
  return verdict;
}

TraceVerdict judge_drop(const TableView& row) {
  const auto& t = schema::eval_middle;
  const Estimate drop = estimate_in(row, t.drop);
  TraceVerdict verdict;
  verdict.trace = fmt::format("{}{} on {}", run_of(row), row.text(t.model), row.text(t.set));
  verdict.evidence = fmt::format(
      "{} places, {} items: exact match {:.3g} at the ends, {:.3g} in the middle, drop {}",
      row.number(t.positions), row.number(t.items), row.number(t.ends), row.number(t.middle), words_of(drop));
  if (few_items(row.number(t.items), verdict)) return verdict;
  verdict.verdict = drop.lower > kDropMargin   ? Verdict::kContradicted
                    : drop.upper < kDropMargin ? Verdict::kSupported
                                               : Verdict::kUndecided;
  return verdict;
}

}  // namespace

ClaimVerdict judge_gain(const Material& material) {
  ClaimVerdict claim;
  claim.id = "C7";
  claim.claim =
      "Masked-diffusion models gain more than twice as much from retrieved passages as autoregressive ones.";
  claim.test =
      "Gain in exact match over closed book, same prompt and items, item by item: supported when the "
      "interval "
      "of the ratio of gains lies above 2, contradicted when below.";
  const auto& t = schema::eval_gain_ratio;
  const auto ratios = find_table(material.tables, t).where({{t.metric, "exact_match"}});
  for (const auto& row : rows_of(ratios, {&schema::trace, &t.set, &t.condition}))
    claim.by_trace.push_back(judge_ratio(row));
  if (claim.by_trace.empty()) {
    claim.evidence = "There are no scored answers of both kinds of models.";
    claim.needs = how_to_get(t);
    return claim;
  }
  conclude(claim, combine(std::span<const TraceVerdict>(claim.by_trace)));
  return claim;
}

ClaimVerdict judge_middle(const Material& material) {
  ClaimVerdict claim;
  claim.id = "C9";
  claim.claim = "Masked-diffusion models avoid being lost in the middle.";
  claim.test = fmt::format(
      "Exact match with the gold passage at the first or last place minus that in the middle third, item by "
      "item, "
      "five places or more: supported when the interval lies below {}, contradicted when above.",
      kDropMargin);
  const auto& t = schema::eval_middle;
  const auto drops = find_table(material.tables, t);
  std::string others;
  for (const auto& row : rows_of(drops, {&schema::trace, &t.model, &t.set})) {
    const auto verdict = judge_drop(row);
    if (row.text(t.kind) == "masked diffusion") {
      claim.by_trace.push_back(verdict);
    } else {
      others += fmt::format(" Beside it, {}: {}.", verdict.trace, verdict.evidence);
    }
  }
  if (claim.by_trace.empty()) {
    claim.evidence =
        "There are no scored answers of a masked-diffusion model by the place of the gold passage.";
    claim.needs = how_to_get(t);
    return claim;
  }
  conclude(claim, combine(std::span<const TraceVerdict>(claim.by_trace)));
  claim.evidence += others;
  return claim;
}

}  // namespace buoy::claims
