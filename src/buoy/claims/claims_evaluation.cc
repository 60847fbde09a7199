#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "buoy/base/error.h"
#include "buoy/claims/claims_judges.h"
#include "buoy/claims/corrected.h"
#include "buoy/result/schema/evaluation.h"
#include "buoy/result/table_advice.h"

namespace buoy::claims {
namespace {

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

Estimate estimate_of(const TableView& row, const Interval& columns, const ColumnSchema& items) {
  Estimate out = estimate_in(row, columns);
  out.samples = static_cast<std::int64_t>(row.number(items));
  return out;
}

// The most that masked-diffusion models could gain; NaN where the table does not say.
double room_of(const TableView& row) {
  const auto& t = schema::eval_gain_ratio;
  return row.has(t.room) ? row.number(t.room) : NAN;
}

std::vector<Network> networks_of(const TableView& gains, const TableView& of, const Material& material) {
  const auto& t = schema::eval_gains;
  if (gains.empty()) return {};
  const auto rows = of.has(schema::trace) && gains.has(schema::trace)
                        ? gains.where({{schema::trace, of.text(schema::trace)}})
                        : gains;
  std::vector<Network> out;
  for (const auto& model : rows.distinct(t.model))
    out.push_back(material.background.network(
        model, rows.where({{t.model, model}}).text(t.kind) == "masked diffusion"));
  return out;
}

std::string label_of(const TableView& row) {
  return row.has(schema::trace) ? row.text(schema::trace) : "";
}

// What passages add to every model, and what closed book leaves it to gain.
void add_gains(const TableView& gains, const Material& material, ClaimVerdict& claim) {
  const auto& t = schema::eval_gains;
  if (gains.empty()) return;
  const auto exact = gains.where({{t.metric, "exact_match"}});
  for (const auto& row : rows_of(exact, {&schema::trace, &t.model, &t.set, &t.condition})) {
    const Network network =
        material.background.network(row.text(t.model), row.text(t.kind) == "masked diffusion");
    const std::string data = fmt::format("{}, {}", row.text(t.set), row.text(t.condition));
    const std::string questions = material.background.questions_of(label_of(row), network, data);
    const Estimate gain = estimate_of(row, t.gain, t.items);
    const double room = 1 - row.number(t.without);
    claim.quantities.push_back({"", quantity_name(rules::kGainRatio), network, data, questions, gain});
    claim.quantities.push_back(
        {"", std::string(rules::kRoom), network, data, questions, {room, room, room, gain.samples}});
  }
}

// Of one data set and condition.
TraceVerdict look_at_ratio(const TableView& row) {
  const auto& t = schema::eval_gain_ratio;
  TraceVerdict verdict;
  verdict.trace = fmt::format("{}{}, {}", run_of(row), row.text(t.set), row.text(t.condition));
  verdict.evidence = fmt::format("gain in exact match: masked diffusion {}, autoregressive {}",
                                 words_of(estimate_in(row, t.diffusion_gain)),
                                 words_of(estimate_in(row, t.autoregressive_gain)));
  const auto items = static_cast<std::int64_t>(row.number(t.items));
  verdict.measured = {
      {kDiffusionGain, words_of(estimate_in(row, t.diffusion_gain)), Finding::kLacking, {}, items},
      {kAutoregressiveGain, words_of(estimate_in(row, t.autoregressive_gain)), Finding::kLacking, {}, items}};
  const double twice = rules::kGainRatio.null * row.number(t.autoregressive_gain), room = room_of(row);
  if (!std::isfinite(row.number(t.ratio))) {
    verdict.needs = "autoregressive models whose gain is surely not zero: otherwise the ratio means nothing";
  } else if (twice > room) {
    verdict.evidence += fmt::format("; ratio {}", words_of(estimate_in(row, t.ratio)));
    verdict.needs = fmt::format(
        "data off the ceiling, for there is no room on {}: {:g} times the autoregressive gain is {:.3g}, and "
        "masked-diffusion models can gain no more than {:.3g}",
        verdict.trace, rules::kGainRatio.null, twice, room);
  }
  return verdict;
}

// All data sets and conditions of a run that are testable are corrected together.
void judge_ratios(std::span<const TableView> rows, const TableView& gains, const Material& material,
                  ClaimVerdict& claim) {
  const auto& t = schema::eval_gain_ratio;
  std::vector<Question> questions;
  std::vector<std::size_t> asked;
  for (const auto& row : rows) {
    claim.by_trace.push_back(look_at_ratio(row));
    claim.by_trace.back().networks = networks_of(gains, row, material);
    if (!claim.by_trace.back().needs.empty()) continue;
    asked.push_back(claim.by_trace.size() - 1);
    questions.push_back(ask({{estimate_of(row, t.ratio, t.items)}, {}, {}}, {rules::kGainRatio, "ratio"}));
  }
  const auto parts = decide(questions);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    auto& verdict = claim.by_trace[asked[i]];
    const auto judged = judge_trace(verdict.trace, std::span(&parts[i], 1));
    verdict.verdict = judged.verdict;
    verdict.parts = judged.parts;
    verdict.evidence += "; " + judged.evidence;
    verdict.measured.insert(verdict.measured.end(), judged.measured.begin(), judged.measured.end());
  }
}

// Models that are right so often, wherever the passage stands, that none could have been better anywhere.
class Ceiling {
 public:
  static bool holds(const TableView& row) { return lowest(row) >= 1 - rules::kMiddleDrop.margin; }

  void take(const TableView& row) {
    if (!holds(row)) return;
    names_.push_back(row.text(schema::eval_middle.model));
    lowest_ = std::min(lowest_, lowest(row));
  }

  std::string words() const {
    const std::string who = names_.size() > kMostNamed ? fmt::format("{} models", names_.size())
                                                       : fmt::format("{}", fmt::join(names_, " and "));
    const std::string how_many =
        lowest_ == 1 ? "every question" : fmt::format("at least {:.3g} of the questions", lowest_);
    return fmt::format(
        "This is at the ceiling: {} answer{} {}, wherever the passage stands. Harder questions were not "
        "asked.",
        who, names_.size() == 1 ? "s" : "", how_many);
  }

 private:
  static constexpr std::size_t kMostNamed = 3;  // by a headline

  static double lowest(const TableView& row) {
    const auto& t = schema::eval_middle;
    return std::min(row.number(t.ends), row.number(t.middle));
  }

  std::vector<std::string> names_;
  double lowest_ = 1;
};

TraceVerdict judge_places(const TableView& row, const Material& material) {
  const auto& t = schema::eval_middle;
  const auto quantity = [&](const QuantityRule& rule, const Interval& columns) {
    const bool there = row.has(columns) && std::isfinite(row.number(columns));
    return ask(there ? Reading{{estimate_of(row, columns, t.items)}, {}, {}}
                     : Reading{{}, {}, fmt::format("column {} of table {}", columns.name(), t.name())},
               Expectation(rule));
  };
  const auto parts = decide(
      std::vector<Question>{quantity(rules::kMiddleDrop, t.drop), quantity(rules::kFirstDrop, t.first_drop),
                            quantity(rules::kLastDrop, t.last_drop), quantity(rules::kPlaceTrend, t.trend)});
  TraceVerdict verdict =
      judge_trace(fmt::format("{}{} on {}", run_of(row), row.text(t.model), row.text(t.set)), parts);
  verdict.verdict = middle_verdict(parts);
  verdict.evidence =
      fmt::format("{} places, {} items: exact match {:.3g} at the ends, {:.3g} in the middle; {}",
                  row.number(t.positions), row.number(t.items), row.number(t.ends), row.number(t.middle),
                  verdict.evidence);
  verdict.networks = {material.background.network(row.text(t.model), row.text(t.kind) == "masked diffusion")};
  if (std::max(row.number(t.ends), row.number(t.middle)) < rules::kFewestRight) {
    verdict.verdict = Verdict::kNotTestable;
    verdict.needs = fmt::format(
        "a model that has something to lose: exact match of {:g} or more at the ends or "
        "in the middle",
        rules::kFewestRight);
    return verdict;
  }
  const std::string set = row.text(t.set);
  for (const auto& part : parts) {
    for (const auto& [name, estimate] : part.numbers)
      verdict.quantities.push_back({"", name, verdict.networks[0], set,
                                    material.background.questions_of(label_of(row), verdict.networks[0], set),
                                    estimate});
  }
  return verdict;
}

}  // namespace

Verdict middle_verdict(std::span<const Part> parts) {
  BUOY_CHECK(parts.size() == 4);
  // Worse in the middle than at either end is what the claim denies; such a curve has no straight line.
  const bool worse = std::all_of(parts.begin(), parts.begin() + 3,
                                 [](const Part& part) { return part.finding == Finding::kAgainst; });
  return worse ? Verdict::kContradicted : combine(parts);
}

ClaimVerdict judge_gain(const Material& material) {
  ClaimVerdict claim = verdict_on("C7");
  const auto& t = schema::eval_gain_ratio;
  const auto ratios = find_table(material.tables, t).where({{t.metric, "exact_match"}});
  const auto gains = find_table(material.tables, schema::eval_gains);
  add_gains(gains, material, claim);
  for (const auto& run : rows_of(ratios, {&schema::trace}))
    judge_ratios(rows_of(run, {&t.set, &t.condition}), gains, material, claim);
  if (claim.by_trace.empty()) {
    claim.evidence = "There are no scored answers of both kinds of models.";
    claim.needs = how_to_get(t);
    return claim;
  }
  conclude(claim, combine(std::span<const TraceVerdict>(claim.by_trace)));
  return claim;
}

ClaimVerdict judge_middle(const Material& material) {
  ClaimVerdict claim = verdict_on("C9");
  const auto& t = schema::eval_middle;
  const auto drops = find_table(material.tables, t);
  std::string others;
  Ceiling ceiling;
  bool all_at_ceiling = true;  // of masked diffusion
  for (const auto& row : rows_of(drops, {&schema::trace, &t.model, &t.set})) {
    const auto verdict = judge_places(row, material);
    ceiling.take(row);
    if (row.text(t.kind) == "masked diffusion") {
      claim.by_trace.push_back(verdict);
      all_at_ceiling = all_at_ceiling && Ceiling::holds(row);
    } else {
      others += fmt::format(" Beside it, {}: {}.", verdict.trace, verdict.evidence);
      claim.quantities.insert(claim.quantities.end(), verdict.quantities.begin(), verdict.quantities.end());
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
  if (all_at_ceiling) claim.remark = ceiling.words();
  return claim;
}

}  // namespace buoy::claims
