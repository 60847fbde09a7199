#include "buoy/claims/claims_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "buoy/claims/corrected.h"
#include "buoy/claims/detectable.h"
#include "buoy/result/schema/common.h"
#include "buoy/result/table_advice.h"

namespace buoy::claims {
namespace {

bool has_interval(const Estimate& estimate) {
  return std::isfinite(estimate.lower) && std::isfinite(estimate.upper);
}

// The same for every question: the questions do not tell how it would be in another network.
bool is_one_choice(const Estimate& estimate, const QuantityRule& rule) {
  return has_interval(estimate) && rule.no_spread > 0 && estimate.upper - estimate.lower <= rule.no_spread;
}

void add_once(std::vector<std::string>& texts, const std::string& text) {
  if (!text.empty() && std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
}

std::string counted_verdicts(std::span<const TraceVerdict> traces) {
  if (traces.size() == 1) return traces[0].parts;
  std::vector<std::string> counts;
  for (const Verdict verdict : {Verdict::kSupported, Verdict::kContradicted, Verdict::kNoDifference,
                                Verdict::kMixed, Verdict::kUndecided, Verdict::kNotTestable}) {
    const auto count = std::count_if(traces.begin(), traces.end(),
                                     [&](const TraceVerdict& trace) { return trace.verdict == verdict; });
    if (count > 0) counts.push_back(fmt::format("{} {}", count, name_of(verdict)));
  }
  return traces.empty() ? "" : fmt::format("of {}: {}", traces.size(), join(counts, ", "));
}

}  // namespace

std::string remark(const Estimate& estimate, const QuantityRule& rule, Finding finding) {
  switch (finding) {
    case Finding::kFor:
      return "as claimed";
    case Finding::kAgainst:
      return rule.side == Side::kAbove || rule.side == Side::kBelow ? "the other way" : "beyond the margin";
    case Finding::kEqual:
      return fmt::format("no difference beyond the margin: within {:g} of {:g}", rule.margin, rule.null);
    default:
      if (!has_interval(estimate)) return "no interval, not decided by this data";
      return fmt::format("not decided by this data, which finds effects from {:.2g} on",
                         detectable_by(estimate, rule));
  }
}

std::string held_back(const Estimate& estimate, const QuantityRule& rule, double control) {
  const Finding alone = side_of_null(estimate, rule);
  if (!decided(alone) || decided(side_of_null(estimate, rule, control))) return "";
  return fmt::format("{}, but not beyond what an untrained network shows ({:.3g}): open",
                     remark(estimate, rule, alone), control);
}

std::string too_few(std::int64_t samples) {
  return samples == 1 ? "1 sample is too few" : fmt::format("{} samples are too few", samples);
}

std::string join(std::span<const std::string> texts, const std::string& separator) {
  return fmt::format("{}", fmt::join(texts, separator));
}

std::string words_of(const Estimate& estimate) {
  if (!std::isfinite(estimate.value)) return "not defined";
  if (!has_interval(estimate)) return fmt::format("{:.3g}", estimate.value);
  return fmt::format("{:.3g} [{:.3g}, {:.3g}]", estimate.value, estimate.lower, estimate.upper);
}

Reading read(std::span<const Table> tables, const TraceKind& trace, const Lookup& lookup) {
  Reading reading;
  const std::string_view name = lookup.table.name();
  const auto table =
      std::find_if(tables.begin(), tables.end(), [&](const Table& t) { return t.is(lookup.table); });
  const auto without = [&](const std::string& what) {
    reading.lacking = fmt::format("{} ({})", what, how_to_get(lookup.table));
    return reading;
  };
  if (table == tables.end()) return without(fmt::format("table {}", name));

  const auto& numbers = lookup.columns;
  std::vector<const ColumnSchema*> columns = {&schema::trace, numbers.value, numbers.lower, numbers.upper};
  for (const auto& condition : lookup.rows) columns.push_back(condition.column);
  for (const auto* column : columns) {
    if (!table->has(*column)) return without(fmt::format("column {} of table {}", column->name(), name));
  }

  TableView view = TableView(*table).where({{schema::trace, trace.label}});
  std::string wanted;
  for (const auto& condition : lookup.rows) {
    view = view.where({condition});
    if (!condition.value.empty()) wanted += (wanted.empty() ? "" : ", ") + condition.value;
  }
  const auto value = view.numbers(*numbers.value);
  const auto lower = view.numbers(*numbers.lower), upper = view.numbers(*numbers.upper);
  const bool counts = lookup.samples != nullptr && table->has(*lookup.samples);
  const auto samples = counts ? view.numbers(*lookup.samples) : std::vector<double>(value.size(), NAN);
  for (size_t i = 0; i < value.size(); ++i) {
    Estimate estimate{value[i], lower[i], upper[i], trace.samples};
    if (std::isfinite(samples[i]))
      estimate.samples = std::min(estimate.samples, static_cast<std::int64_t>(samples[i]));
    reading.rows.push_back(estimate);
  }
  if (lookup.layer != nullptr) reading.layers = view.numbers(*lookup.layer);
  if (std::none_of(value.begin(), value.end(), [](double v) { return std::isfinite(v); })) {
    reading.rows.clear();
    reading.layers.clear();
    return without(
        fmt::format("a value in {} of {}{}{}", name, trace.label, wanted.empty() ? "" : " for ", wanted));
  }
  return reading;
}

Estimate estimate_in(const TableView& rows, const Interval& columns) {
  return {rows.number(columns), rows.number(columns.lower), rows.number(columns.upper), 0};
}

Finding side_of_null(const Estimate& estimate, const QuantityRule& rule, double control) {
  if (!std::isfinite(estimate.value)) return Finding::kLacking;
  if (!has_interval(estimate)) return Finding::kUndecided;
  const double low = rule.null - rule.margin, high = rule.null + rule.margin;
  const bool guarded = std::isfinite(control);
  const bool above = estimate.lower > (guarded ? std::max(high, control + rule.margin) : high);
  const bool below = estimate.upper < (guarded ? std::min(low, control - rule.margin) : low);
  const bool inside = estimate.lower >= low && estimate.upper <= high;
  switch (rule.side) {
    case Side::kAbove:
    case Side::kBelow:
      if (above || below) return above == (rule.side == Side::kAbove) ? Finding::kFor : Finding::kAgainst;
      return inside ? Finding::kEqual : Finding::kUndecided;
    case Side::kWithin:
      if (above || below) return Finding::kAgainst;
      return inside ? Finding::kFor : Finding::kUndecided;
    case Side::kNotAbove:
      break;
  }
  return above ? Finding::kAgainst : estimate.upper < high ? Finding::kFor : Finding::kUndecided;
}

Part judge(const Reading& reading, const Expectation& expected, double alpha) {
  const Estimate estimate = reading.rows.empty() ? Estimate{} : reading.rows[0];
  const Finding alone = side_of_null(estimate, expected.rule, reading.control);
  if (alone == Finding::kLacking) {
    const std::string lacking = reading.lacking.empty() ? "a value of " + expected.name : reading.lacking;
    return {alone, expected.name + " not defined", lacking};
  }
  const std::string held = held_back(estimate, expected.rule, reading.control);
  // Why, in the few words that a sentence has room for.
  const auto in_short = [&](Finding finding, const std::string& said) {
    if (finding != Finding::kUndecided || is_one_choice(estimate, expected.rule)) return said;
    if (!held.empty()) return fmt::format("an untrained network shows {:.3g}", reading.control);
    if (decided(alone) || !has_interval(estimate)) return said;
    return fmt::format("too wide an interval for a margin of {:g}", expected.rule.margin);
  };
  const auto part = [&](Finding finding, const std::string& said) {
    const Measured measured{std::string(expected.rule.what), words_of(estimate), finding,
                            in_short(finding, said), estimate.samples};
    return Part{finding,
                fmt::format("{} {} ({})", expected.name, words_of(estimate), said),
                {},
                {measured},
                {{expected.quantity, estimate}}};
  };
  if (is_one_choice(estimate, expected.rule))
    return part(Finding::kUndecided,
                "the same for all questions: what one network's training chose, n = 1, no certainty");
  if (decided(alone) && estimate.samples < kFewestSamples)
    return part(Finding::kUndecided, too_few(estimate.samples));
  if (!held.empty()) return part(Finding::kUndecided, held);
  const Finding corrected = side_of_null(widened(estimate, alpha), expected.rule, reading.control);
  const std::string said = remark(estimate, expected.rule, alone);
  if (decided(alone) && !decided(corrected))
    return part(corrected, said + " by itself, open when corrected for several quantities");
  return part(corrected, said);
}

bool split(std::size_t in_favour, std::size_t against, std::size_t layers) {
  return kSplitLayers * in_favour > layers && kSplitLayers * against > layers;
}

Part judge_layers(std::span<const Estimate> layers, const Expectation& expected, double alpha) {
  size_t thin = 0;
  std::int64_t most_samples = 0;
  std::vector<double> values;
  std::vector<Estimate> counted;
  for (const auto& layer : layers) {
    const Finding alone = side_of_null(layer, expected.rule);
    if (alone == Finding::kLacking) continue;
    values.push_back(layer.value);
    most_samples = std::max(most_samples, layer.samples);
    if (layer.samples >= kFewestSamples) {
      counted.push_back(layer);
    } else if (decided(alone)) {
      ++thin;
    }
  }
  if (values.empty())
    return {Finding::kLacking, expected.name + " not defined", "a value of " + expected.name};

  const auto findings = corrected_findings(
      counted.size(),
      [&](size_t i, double level) { return side_of_null(widened(counted[i], level), expected.rule); }, alpha);
  const auto count = [&](Finding finding) {
    return static_cast<size_t>(std::count(findings.begin(), findings.end(), finding));
  };
  const size_t in_favour = count(Finding::kFor), against = count(Finding::kAgainst);
  const size_t equal = count(Finding::kEqual);
  Part part{Finding::kUndecided, {}, {}, {}, {{expected.quantity, mean_over_layers(layers)}}};
  if (2 * in_favour > layers.size() && against == 0) part.finding = Finding::kFor;
  if (2 * against > layers.size() && in_favour == 0) part.finding = Finding::kAgainst;
  if (2 * equal > layers.size() && in_favour == 0 && against == 0) part.finding = Finding::kEqual;
  if (split(in_favour, against, layers.size())) part.finding = Finding::kSplit;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  part.words = fmt::format("{}: {:.3g} to {:.3g}, {} of {} layers as claimed, {} against", expected.name,
                           *least, *most, in_favour, layers.size(), against);
  if (equal > 0) part.words += fmt::format(", {} as good as equal", equal);
  std::string why = fmt::format("{} of {} layers as claimed, {} against", in_favour, layers.size(), against);
  if (most_samples < kFewestSamples) {
    why = too_few(most_samples);
    part.words += fmt::format(" ({})", why);
  } else if (thin > 0) {
    part.words += fmt::format(" ({} more with fewer than {} samples)", thin, kFewestSamples);
  }
  part.measured.push_back({std::string(expected.rule.what), fmt::format("{:.3g} to {:.3g}", *least, *most),
                           part.finding, why, most_samples});
  return part;
}

std::vector<Estimate> deep_third(const Reading& by_layer) {
  std::vector<Estimate> out;
  const double last =
      by_layer.layers.empty() ? 0 : *std::max_element(by_layer.layers.begin(), by_layer.layers.end());
  const double begin = std::floor(2 * (last + 1) / 3);
  for (size_t i = 0; i < by_layer.rows.size() && i < by_layer.layers.size(); ++i) {
    if (by_layer.layers[i] >= begin) out.push_back(by_layer.rows[i]);
  }
  return out;
}

Verdict combine(std::span<const Part> parts) {
  const auto any = [&](Finding finding) {
    return std::any_of(parts.begin(), parts.end(), [&](const Part& part) { return part.finding == finding; });
  };
  const bool not_borne_out = any(Finding::kAgainst) || any(Finding::kEqual);
  if (any(Finding::kSplit) || (any(Finding::kFor) && not_borne_out)) return Verdict::kMixed;
  if (parts.empty() || any(Finding::kLacking)) return Verdict::kNotTestable;
  if (any(Finding::kUndecided)) return Verdict::kUndecided;
  if (any(Finding::kFor)) return Verdict::kSupported;
  return any(Finding::kAgainst) ? Verdict::kContradicted : Verdict::kNoDifference;
}

std::string counted_parts(std::span<const Part> parts) {
  constexpr std::pair<Finding, const char*> kNames[] = {
      {Finding::kFor, "for"},         {Finding::kAgainst, "against"}, {Finding::kEqual, "as good as equal"},
      {Finding::kSplit, "both ways"}, {Finding::kUndecided, "open"},  {Finding::kLacking, "lacking"}};
  std::vector<std::string> counts;
  for (const auto& [finding, name] : kNames) {
    const auto count = std::count_if(parts.begin(), parts.end(), [finding = finding](const Part& part) {
      return part.finding == finding;
    });
    if (count > 0) counts.push_back(fmt::format("{} {}", count, name));
  }
  return join(counts, ", ");
}

TraceVerdict judge_trace(const TraceKind& trace, std::span<const Part> parts) {
  TraceVerdict out = judge_trace(trace.label, parts);
  out.networks = {trace.traced()};
  for (const auto& part : parts) {
    for (const auto& [quantity, estimate] : part.numbers)
      out.quantities.push_back({"", quantity, trace.traced(), trace.data, trace.questions, estimate});
  }
  return out;
}

TraceVerdict judge_trace(const std::string& trace, std::span<const Part> parts) {
  TraceVerdict out{trace, combine(parts), {}, {}, counted_parts(parts), {}, {}};
  std::vector<std::string> words, lacking;
  for (const auto& part : parts) {
    add_once(words, part.words);
    add_once(lacking, part.lacking);
    out.measured.insert(out.measured.end(), part.measured.begin(), part.measured.end());
  }
  out.evidence = join(words, "; ");
  out.needs = join(lacking, "; ");
  return out;
}

Verdict combine(std::span<const TraceVerdict> traces) {
  const auto any = [&](Verdict verdict) {
    return std::any_of(traces.begin(), traces.end(),
                       [&](const TraceVerdict& trace) { return trace.verdict == verdict; });
  };
  const bool not_borne_out = any(Verdict::kContradicted) || any(Verdict::kNoDifference);
  if (any(Verdict::kMixed) || (any(Verdict::kSupported) && not_borne_out)) return Verdict::kMixed;
  for (const Verdict verdict :
       {Verdict::kUndecided, Verdict::kSupported, Verdict::kContradicted, Verdict::kNoDifference}) {
    if (any(verdict)) return verdict;
  }
  return Verdict::kNotTestable;
}

void conclude(ClaimVerdict& claim, Verdict verdict) {
  claim.verdict = verdict;
  claim.parts = counted_verdicts(claim.by_trace);
  std::vector<std::string> evidence, needs;
  if (!claim.evidence.empty()) evidence.push_back(claim.evidence);
  add_once(needs, claim.needs);
  for (const auto& trace : claim.by_trace) {
    const std::string parts = trace.parts.empty() ? "" : fmt::format(" ({})", trace.parts);
    evidence.push_back(
        fmt::format("{}: {}{}: {}.", trace.trace, name_of(trace.verdict), parts, trace.evidence));
    add_once(needs, trace.needs);
  }
  claim.evidence = join(evidence, " ");
  claim.needs = join(needs, "; ");
}

}  // namespace buoy::claims
