#include "buoy/claims/claims_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "buoy/result/schema/common.h"
#include "buoy/result/table_advice.h"

namespace buoy::claims {
namespace {

bool has_interval(const Estimate& estimate) {
  return std::isfinite(estimate.lower) && std::isfinite(estimate.upper);
}

bool decided(Finding finding) {
  return finding == Finding::kFor || finding == Finding::kAgainst;
}

bool absent(const Estimate& estimate, const Expectation& expected) {
  return has_interval(estimate) && estimate.lower >= expected.null - expected.margin &&
         estimate.upper <= expected.null + expected.margin;
}

std::string remark(const Estimate& estimate, const Expectation& expected, Finding raw) {
  if (decided(raw) && estimate.samples < kFewestSamples) return too_few(estimate.samples);
  if (raw == Finding::kUndecided)
    return has_interval(estimate) ? "not decided by this data" : "no interval, not decided by this data";
  if (raw == Finding::kFor) return "as claimed";
  const bool beyond = estimate.lower > expected.null || estimate.upper < expected.null;
  return beyond ? "the other way"
                : fmt::format("absent: within {:g} of {:g}", expected.margin, expected.null);
}

void add_once(std::vector<std::string>& texts, const std::string& text) {
  if (!text.empty() && std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
}

}  // namespace

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

Finding side_of_null(const Estimate& estimate, const Expectation& expected) {
  if (!std::isfinite(estimate.value)) return Finding::kLacking;
  if (!has_interval(estimate)) return Finding::kUndecided;
  const bool up = expected.side == Side::kAbove;
  if (estimate.lower > expected.null) return up ? Finding::kFor : Finding::kAgainst;
  if (estimate.upper < expected.null) return up ? Finding::kAgainst : Finding::kFor;
  return absent(estimate, expected) ? Finding::kAgainst : Finding::kUndecided;
}

Part judge(const Reading& reading, const Expectation& expected) {
  const Estimate estimate = reading.rows.empty() ? Estimate{} : reading.rows[0];
  const Finding raw = side_of_null(estimate, expected);
  if (raw == Finding::kLacking) {
    const std::string lacking = reading.lacking.empty() ? "a value of " + expected.name : reading.lacking;
    return {raw, expected.name + " not defined", lacking};
  }
  const bool enough = !decided(raw) || estimate.samples >= kFewestSamples;
  return {enough ? raw : Finding::kUndecided,
          fmt::format("{} {} ({})", expected.name, words_of(estimate), remark(estimate, expected, raw)),
          {}};
}

bool split(std::size_t in_favour, std::size_t against, std::size_t layers) {
  return 8 * in_favour > layers && 8 * against > layers;
}

Part judge_layers(std::span<const Estimate> layers, const Expectation& expected) {
  size_t in_favour = 0, against = 0, thin = 0;
  std::int64_t most_samples = 0;
  std::vector<double> values;
  for (const auto& layer : layers) {
    const Finding raw = side_of_null(layer, expected);
    if (raw == Finding::kLacking) continue;
    values.push_back(layer.value);
    most_samples = std::max(most_samples, layer.samples);
    if (!decided(raw)) continue;
    if (layer.samples < kFewestSamples) {
      ++thin;
    } else {
      ++(raw == Finding::kFor ? in_favour : against);
    }
  }
  if (values.empty())
    return {Finding::kLacking, expected.name + " not defined", "a value of " + expected.name};

  Part part{Finding::kUndecided, {}, {}};
  if (2 * in_favour > layers.size() && against == 0) part.finding = Finding::kFor;
  if (2 * against > layers.size() && in_favour == 0) part.finding = Finding::kAgainst;
  if (split(in_favour, against, layers.size())) part.finding = Finding::kSplit;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  part.words = fmt::format("{}: {:.3g} to {:.3g}, {} of {} layers as claimed, {} against", expected.name,
                           *least, *most, in_favour, layers.size(), against);
  if (most_samples < kFewestSamples) {
    part.words += fmt::format(" ({})", too_few(most_samples));
  } else if (thin > 0) {
    part.words += fmt::format(" ({} more with fewer than {} samples)", thin, kFewestSamples);
  }
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
  if (any(Finding::kSplit) || (any(Finding::kFor) && any(Finding::kAgainst))) return Verdict::kMixed;
  if (parts.empty() || any(Finding::kLacking)) return Verdict::kNotTestable;
  if (any(Finding::kUndecided)) return Verdict::kUndecided;
  return any(Finding::kFor) ? Verdict::kSupported : Verdict::kContradicted;
}

TraceVerdict judge_trace(const std::string& trace, std::span<const Part> parts) {
  TraceVerdict out{trace, combine(parts), {}, {}};
  std::vector<std::string> words, lacking;
  for (const auto& part : parts) {
    add_once(words, part.words);
    add_once(lacking, part.lacking);
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
  if (any(Verdict::kMixed) || (any(Verdict::kSupported) && any(Verdict::kContradicted)))
    return Verdict::kMixed;
  for (const Verdict verdict : {Verdict::kUndecided, Verdict::kSupported, Verdict::kContradicted}) {
    if (any(verdict)) return verdict;
  }
  return Verdict::kNotTestable;
}

void conclude(ClaimVerdict& claim, Verdict verdict) {
  claim.verdict = verdict;
  std::vector<std::string> evidence, needs;
  if (!claim.evidence.empty()) evidence.push_back(claim.evidence);
  add_once(needs, claim.needs);
  for (const auto& trace : claim.by_trace) {
    evidence.push_back(fmt::format("{}: {}: {}.", trace.trace, name_of(trace.verdict), trace.evidence));
    add_once(needs, trace.needs);
  }
  claim.evidence = join(evidence, " ");
  claim.needs = join(needs, "; ");
}

}  // namespace buoy::claims
