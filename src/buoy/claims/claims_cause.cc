#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "buoy/claims/claims_judges.h"
#include "buoy/claims/corrected.h"
#include "buoy/result/schema/evaluation.h"
#include "buoy/result/table_advice.h"

namespace buoy::claims {
namespace {

constexpr const auto& kColumns = schema::eval_columns;

// Of a model on a set: the thirds of the depth, floating columns against random and against structural ones.
struct Thirds {
  bool matters = false;     // in some third
  std::vector<Part> parts;  // one a third
  std::int64_t items = 0;   // the fewest that a number rests on
  std::string evidence;
  std::vector<Measured> measured;
};

bool has_nothing_to_lose(const TableView& rows) {
  return rows.number(kColumns.seen) < rules::kFewestRight;
}

// Floating columns must cost more than random and than structural ones; to speak against it, one is enough.
Finding together(std::span<const Estimate> differences, double alpha) {
  constexpr QuantityRule kRule = rules::kHidden;
  bool all_for = !differences.empty(), any_against = false, any_no_more = false;
  for (const auto& difference : differences) {
    const Estimate wide = widened(difference, alpha);
    const Finding finding = side_of_null(wide, kRule);
    all_for = all_for && finding == Finding::kFor;
    any_against = any_against || finding == Finding::kAgainst;
    any_no_more = any_no_more || wide.lower > kRule.null - kRule.margin;
  }
  if (all_for) return Finding::kFor;
  return any_against ? Finding::kAgainst : any_no_more ? Finding::kEqual : Finding::kUndecided;
}

Thirds look_at_thirds(const TableView& rows) {
  Thirds out;
  const auto thirds = rows.distinct(kColumns.third);
  std::vector<Question> questions;
  std::vector<std::string> values;  // of each third, floating columns against the first others
  for (const auto& third : thirds) {
    std::vector<Estimate> differences;
    std::string text;
    double seen = 0, floating = 0;
    for (const auto& against : rows.where({{kColumns.third, third}}).distinct(kColumns.against)) {
      const auto row = rows.where({{kColumns.third, third}, {kColumns.against, against}});
      differences.push_back(estimate_in(row, kColumns.difference));
      seen = row.number(kColumns.seen);
      const auto items = static_cast<std::int64_t>(row.number(kColumns.items));
      out.items = out.items == 0 ? items : std::min(out.items, items);
      floating = row.number(kColumns.floating);
      text += fmt::format(", {} columns {:.3g} (difference {})", against, row.number(kColumns.others),
                          words_of(differences.back()));
    }
    out.evidence += fmt::format("{}{} third: exact match {:.3g}, without floating columns {:.3g}{}",
                                out.evidence.empty() ? "" : "; ", third, seen, floating, text);
    values.push_back(
        fmt::format("{} ({} third)", differences.empty() ? "not defined" : words_of(differences[0]), third));
    questions.push_back([differences](double alpha) { return Part{together(differences, alpha), {}, {}}; });
  }
  out.parts = decide(questions);
  for (std::size_t i = 0; i < thirds.size(); ++i) {
    out.matters = out.matters || out.parts[i].finding == Finding::kFor;
    out.measured.push_back(
        {std::string(rules::kHidden.what), values[i], out.parts[i].finding,
         out.items < kFewestSamples ? too_few(out.items) : "the interval reaches into the margin",
         out.items});
  }
  return out;
}

// Every difference of every model, of either arm.
void add_differences(const TableView& rows, const std::string& run, const Material& material,
                     ClaimVerdict& claim) {
  for (const auto& model : rows.distinct(kColumns.model)) {
    const auto of_model = rows.where({{kColumns.model, model}});
    if (has_nothing_to_lose(of_model)) continue;
    const Network network =
        material.background.network(model, of_model.text(kColumns.kind) == "masked diffusion");
    for (const auto& third : of_model.distinct(kColumns.third)) {
      const auto of_third = of_model.where({{kColumns.third, third}});
      for (const auto& against : of_third.distinct(kColumns.against)) {
        const auto row = of_third.where({{kColumns.against, against}});
        Estimate estimate = estimate_in(row, kColumns.difference);
        estimate.samples = static_cast<std::int64_t>(row.number(kColumns.items));
        claim.quantities.push_back(
            {"", quantity_name(rules::kHidden, fmt::format("{} third, {} columns", third, against)), network,
             row.text(kColumns.set), material.background.questions_of(run, network, row.text(kColumns.set)),
             estimate});
      }
    }
  }
}

// The models of one run on one set. What matters to an autoregressive model too, in whatever layers, is
// nothing that sets masked diffusion apart.
void judge_set(const TableView& rows, const std::string& run, const Material& material, ClaimVerdict& claim,
               std::string& others) {
  bool matters_to_others = false;
  std::vector<Network> beside;
  for (const auto& model : rows.where({{kColumns.kind, "autoregressive"}}).distinct(kColumns.model)) {
    const auto thirds = look_at_thirds(rows.where({{kColumns.model, model}}));
    matters_to_others = matters_to_others || thirds.matters;
    beside.push_back(material.background.network(model, false));
    others += fmt::format(" Beside it, {}{}: {}.", run, model, thirds.evidence);
  }
  for (const auto& model : rows.where({{kColumns.kind, "masked diffusion"}}).distinct(kColumns.model)) {
    const auto of_model = rows.where({{kColumns.model, model}});
    const auto thirds = look_at_thirds(of_model);
    TraceVerdict verdict;
    verdict.trace = fmt::format("{}{} on {}", run, model, of_model.distinct(kColumns.set).front());
    verdict.evidence = thirds.evidence;
    verdict.measured = thirds.measured;
    if (thirds.matters && matters_to_others)
      verdict.evidence += "; floating columns matter to the autoregressive model too";
    // One third is enough: where there is one, the others need not be.
    verdict.verdict = !thirds.matters     ? combine(std::span<const Part>(thirds.parts))
                      : matters_to_others ? Verdict::kMixed
                                          : Verdict::kSupported;
    verdict.parts = counted_parts(thirds.parts);
    verdict.networks = beside;
    verdict.networks.push_back(material.background.network(model, true));
    if (has_nothing_to_lose(of_model)) {
      verdict.verdict = Verdict::kNotTestable;
      verdict.needs =
          fmt::format("a model that has something to lose: exact match of {:g} or more with nothing hidden",
                      rules::kFewestRight);
    } else if (thirds.items < kFewestSamples) {
      verdict.verdict = Verdict::kUndecided;
      verdict.evidence += fmt::format(" ({})", too_few(thirds.items));
    }
    claim.by_trace.push_back(std::move(verdict));
  }
}

}  // namespace

ClaimVerdict judge_cause(const Material& material) {
  ClaimVerdict claim = verdict_on("C10");
  const auto table = find_table(material.tables, kColumns);
  std::string others;
  if (!table.empty()) {
    const std::vector<std::string> runs =
        table.has(schema::trace) ? table.distinct(schema::trace) : std::vector<std::string>{""};
    for (const auto& run : runs) {
      const auto of_run = run.empty() ? table : table.where({{schema::trace, run}});
      for (const auto& set : of_run.distinct(kColumns.set)) {
        const auto of_set = of_run.where({{kColumns.set, set}});
        judge_set(of_set, run.empty() ? "" : run + ": ", material, claim, others);
        add_differences(of_set, run, material, claim);
      }
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
