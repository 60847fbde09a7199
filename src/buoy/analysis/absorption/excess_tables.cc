#include "buoy/analysis/absorption/excess_tables.h"

#include "buoy/analysis/absorption/absorption_state.h"
#include "buoy/analysis/core/interval_cells.h"
#include "buoy/result/schema/absorption.h"

namespace buoy::analysis {
namespace {

// The names of one quantity, [when, view, queries, selector].
struct Names {
  explicit Names(std::int64_t quantity)
      : steps(kWhenNames[static_cast<size_t>(quantity / (kExcessSets * kExcessQueries * kViews))]),
        view(view_name(quantity / (kExcessSets * kExcessQueries) % kViews)),
        queries(kExcessQueryNames[static_cast<size_t>(quantity / kExcessSets % kExcessQueries)]),
        selector(kExcessSelectors[static_cast<size_t>(quantity % kExcessSets)]) {}
  std::string steps, view, queries, selector;
};
constexpr std::int64_t kQuantities = kWhens * kViews * kExcessQueries * kExcessSets;

// Of the samples that both have.
stats::StreamedBootstrap paired(const ExcessState& one, const ExcessState& other,
                                const stats::BootstrapOptions& options) {
  stats::StreamedBootstrap differences(kQuantities, options);
  for (const auto& [id, values] : one.of_samples) {
    const auto match = other.of_samples.find(id);
    if (match == other.of_samples.end()) continue;
    std::vector<double> difference;
    for (size_t q = 0; q < values.size(); ++q) difference.push_back(values[q] - match->second[q]);
    differences.add(id, difference);
  }
  return differences;
}

}  // namespace

Table excess_table(const ExcessState* state) {
  const auto& t = schema::absorption_excess;
  Table table(t);
  for (std::int64_t q = 0; state != nullptr && q < kQuantities; ++q) {
    const Names names(q);
    for (std::int64_t part = 0; part < DepthSummary::kPartCount; ++part) {
      const stats::Estimate excess = state->depth.interval(q, part);
      table.add({{t.steps, names.steps},
                 {t.view, names.view},
                 {t.queries, names.queries},
                 {t.selector, names.selector},
                 {t.depth, std::string(DepthSummary::kParts[static_cast<size_t>(part)])},
                 {t.excess, interval_cells(excess)},
                 {t.samples, excess.samples}});
    }
  }
  return table;
}

Table excess_by_layer_table(const LayerAxis& axis, const ExcessState* state) {
  const auto& t = schema::absorption_excess_by_layer;
  Table table(t);
  for (std::int64_t l = 0; state != nullptr && l < axis.size(); ++l) {
    for (std::int64_t q = 0; q < kQuantities; ++q) {
      const Names names(q);
      const stats::Estimate excess = state->by_layer.interval(l * kQuantities + q);
      table.add({{t.layer, axis.number(l)},
                 {t.steps, names.steps},
                 {t.view, names.view},
                 {t.queries, names.queries},
                 {t.selector, names.selector},
                 {t.excess, interval_cells(excess)},
                 {t.samples, excess.samples}});
    }
  }
  return table;
}

Table excess_by_block_length(const ExcessState* state) {
  const auto& t = schema::absorption_by_block_length;
  Table table(t);
  if (state == nullptr || !state->block_length) return table;
  constexpr std::int64_t kAllLayers = 0;  // of DepthSummary::kParts
  for (std::int64_t q = 0; q < kQuantities; ++q) {
    const Names names(q);
    if (names.steps != kWhenNames[kAllSteps]) continue;
    const stats::Estimate excess = state->depth.interval(q, kAllLayers);
    table.add({{t.block_length, *state->block_length},
               {t.view, names.view},
               {t.queries, names.queries},
               {t.selector, names.selector},
               {t.excess, interval_cells(excess)},
               {t.samples, excess.samples}});
  }
  return table;
}

Table excess_pairs(std::span<const LabelledExcess> traces, const stats::BootstrapOptions& options) {
  const auto& t = schema::absorption_pairs;
  Table table(t);
  for (size_t a = 0; a < traces.size(); ++a) {
    for (size_t b = a + 1; b < traces.size(); ++b) {
      const auto &one = traces[a], &other = traces[b];
      if (one.state == nullptr || other.state == nullptr) continue;
      const stats::StreamedBootstrap differences = paired(*one.state, *other.state, options);
      for (std::int64_t q = 0; q < kQuantities; ++q) {
        const Names names(q);
        const stats::Estimate difference = differences.interval(q);
        table.add({{t.trace, one.label},
                   {t.other, other.label},
                   {t.steps, names.steps},
                   {t.view, names.view},
                   {t.queries, names.queries},
                   {t.selector, names.selector},
                   {t.difference, interval_cells(difference)},
                   {t.samples, difference.samples}});
      }
    }
  }
  return table;
}

}  // namespace buoy::analysis
