#include <fmt/format.h>

#include "report/claims_judges.h"

namespace buoy::report {
namespace {

constexpr double kMargin = 0.05;  // a drop below this is none

// Of a model on a set: the thirds of the depth, floating columns against random and against structural ones.
TraceVerdict judge_thirds(const TableView& rows, const std::string& name) {
  TraceVerdict verdict;
  verdict.trace = name;
  bool any = false, none = true;
  for (const auto& third : rows.distinct("third")) {
    bool more_than_all = true, like_one = false;
    std::string text;
    double seen = 0, floating = 0;
    for (const auto& against : rows.where({{"third", third}}).distinct("against")) {
      const auto row = rows.where({{"third", third}, {"against", against}});
      const Estimate difference = with_doubt(
          {row.number("difference"), row.number("lower"), row.number("upper"), 0}, row.number("items"));
      seen = row.number("seen");
      floating = row.number("floating");
      text += fmt::format(", {} columns {:.3g} (difference {})", against, row.number("others"),
                          words_of(difference));
      more_than_all = more_than_all && difference.upper < -kMargin;
      like_one = like_one || difference.lower > -kMargin;
    }
    any = any || more_than_all;
    none = none && like_one;
    verdict.evidence += fmt::format("{}{} third: exact match {:.3g}, without floating columns {:.3g}{}",
                                    verdict.evidence.empty() ? "" : "; ", third, seen, floating, text);
  }
  verdict.verdict = any ? Verdict::kSupported : none ? Verdict::kContradicted : Verdict::kMixed;
  return verdict;
}

}  // namespace

ClaimVerdict judge_cause(const Material& material) {
  ClaimVerdict claim;
  claim.id = "C10";
  claim.claim = "Floating explains strong in-context learning.";
  claim.test = fmt::format(
      "Exact match with passages when floating columns of a third of the layers are hidden (never the answer "
      "itself) "
      "minus that when as many random or structural ones are, item by item: supported when in some third "
      "both "
      "intervals "
      "lie below -{0}, contradicted when in every third one of them lies above.",
      kMargin);
  const auto table = find_table(material.tables, "eval_columns");
  std::string others;
  if (!table.empty()) {
    const std::vector<std::string> runs =
        table.has("trace") ? table.distinct("trace") : std::vector<std::string>{""};
    for (const auto& run : runs) {
      const auto of_run = run.empty() ? table : table.where({{"trace", run}});
      for (const auto& model : of_run.distinct("model")) {
        const auto of_model = of_run.where({{"model", model}});
        for (const auto& set : of_model.distinct("set")) {
          const auto rows = of_model.where({{"set", set}});
          const auto verdict =
              judge_thirds(rows, fmt::format("{}{} on {}", run.empty() ? "" : run + ": ", model, set));
          if (rows.distinct("kind").front() == "masked diffusion") {
            claim.by_trace.push_back(verdict);
          } else {
            others += fmt::format(" Beside it, {}: {}.", verdict.trace, verdict.evidence);
          }
        }
      }
    }
  }
  if (claim.by_trace.empty()) {
    claim.evidence = "The claim is causal; a trace only observes.";
    claim.needs =
        "buoy eval --columns-from MODEL=TRACE with a masked-diffusion model, and buoy report --eval RUN";
    return claim;
  }
  conclude(claim, combine(std::span<const TraceVerdict>(claim.by_trace)));
  claim.evidence += others;
  return claim;
}

}  // namespace buoy::report
