#include "buoy/analysis/routing/sample_routing.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "buoy/analysis/core/axes.h"
#include "buoy/stats/not_a_number.h"
#include "buoy/trace/sample_rules.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

size_t cell_of(std::int64_t l, std::int64_t bin, std::int64_t quantity) {
  return static_cast<size_t>((l * kStepBins + bin) * kRoutingQuantities + quantity);
}

// Classes of tokens; padding is in none.
std::vector<std::int32_t> states_of(const ForwardFacts& forward) {
  std::vector<std::int32_t> out(forward.masked.begin(), forward.masked.end());
  for (size_t t = 0; t < out.size(); ++t) {
    if (static_cast<std::int64_t>(t) >= forward.answer_end) out[t] = -1;
  }
  return out;
}

std::vector<std::int32_t> regions_of_tokens(const SampleFacts& sample, const ForwardFacts& forward) {
  std::vector<std::int32_t> out(sample.region_of_token.begin(), sample.region_of_token.end());
  for (size_t t = 0; t < out.size(); ++t) {
    const bool padding = static_cast<std::int64_t>(t) >= forward.answer_end;
    if (padding || out[t] >= std::ssize(sample.region_names)) out[t] = -1;
  }
  return out;
}

std::vector<std::int32_t> types_of(const ForwardFacts& forward) {
  std::vector<std::int32_t> out;
  for (const TokenType type : forward.types) {
    const bool none = type == TokenType::kPadding || type == TokenType::kUnknown;
    out.push_back(none ? -1 : static_cast<std::int32_t>(type));
  }
  return out;
}

// Of the tokens that ran, the mean entropy, and how much the best expert weighs.
std::array<double, 2> means_of(const LayerView& layer, const Routes& routes) {
  const auto entropy = layer.floats(trace::kRouterEntropy), weights = layer.floats(trace::kRoutedWeights);
  double entropies = 0, tops = 0, count = 0;
  for (std::int64_t t = 0; t < routes.tokens(); ++t) {
    if (!routes.ran(t)) continue;
    double sum = 0, top = 0;
    for (std::int64_t n = t * routes.chosen; n < (t + 1) * routes.chosen; ++n) {
      sum += weights[static_cast<size_t>(n)];
      top = std::max<double>(top, weights[static_cast<size_t>(n)]);
    }
    entropies += entropy[static_cast<size_t>(t)];
    tops += sum > 0 ? top / sum : 0;
    ++count;
  }
  return {entropies / count, tops / count};
}

}  // namespace

SampleRouting::Means SampleRouting::empty_means(std::int64_t places) {
  const std::vector<double> none(static_cast<size_t>(places * kRoutingQuantities), stats::kNan);
  return {none, none};
}

SampleRouting::SampleRouting(const SampleFacts& sample)
    : layers_(sample.layer_count()),
      experts_(sample.shape(trace::kExpertLoad).back()),
      chosen_(sample.shape(trace::kRoutedExperts).back()),
      by_layer_(empty_means(layers_)),
      by_bin_(empty_means(kStepBins)),
      load_(static_cast<size_t>(layers_ * experts_), 0.0),
      values_(cell_of(layers_, 0, 0), 0.0),
      nulls_(values_),
      counts_(values_),
      previous_(static_cast<size_t>(layers_)) {}

void SampleRouting::add(const LayerView& layer, std::int64_t quantity, const WithNull& measured) {
  if (std::isnan(measured.value)) return;
  const std::int64_t bin = layer.forward.is_step ? step_bin(layer.sample, layer.s()) : kStepBins - 1;
  const size_t cell = cell_of(layer.l, bin, quantity);
  values_[cell] += measured.value;
  nulls_[cell] += measured.null;
  ++counts_[cell];
}

void SampleRouting::take_changes(const LayerView& layer, const Routes& now) {
  Previous& before = previous_[static_cast<size_t>(layer.l)];
  if (before.experts.size() == now.experts.size()) {
    const Routes old{before.experts, chosen_, experts_};
    std::vector<std::int32_t> all, masked, revealed, settled;
    for (std::int32_t t = 0; t < now.tokens(); ++t) {
      if (!now.ran(t) || !old.ran(t) || t >= layer.forward.answer_end) continue;
      all.push_back(t);
      const bool was = before.masked[static_cast<size_t>(t)] != 0,
                 is = layer.forward.masked[static_cast<size_t>(t)] != 0;
      if (is == was) (is ? masked : settled).push_back(t);
      if (was && !is) revealed.push_back(t);
    }
    add(layer, kChange, change_of(now, old, all));
    add(layer, kChangeMasked, change_of(now, old, masked));
    add(layer, kChangeRevealed, change_of(now, old, revealed));
    add(layer, kChangeSettled, change_of(now, old, settled));
  }
  before.experts.assign(now.experts.begin(), now.experts.end());
  before.masked = layer.forward.masked;
}

void SampleRouting::take(const LayerView& layer) {
  // The look at the final row is no step of a run that has some.
  if (!layer.forward.is_step && layer.sample.step_count() > 0) return;
  const Routes routes{layer.integers(trace::kRoutedExperts), chosen_, experts_};
  const WithNull imbalance = imbalance_of(routes);
  if (std::isnan(imbalance.value)) return;  // a layer without experts
  for (std::int64_t t = 0; t < routes.tokens(); ++t) {
    if (!routes.ran(t)) continue;
    for (const auto expert : routes.of(t)) ++load_[static_cast<size_t>(layer.l * experts_ + expert)];
  }
  add(layer, kImbalance, imbalance);
  const auto [entropy, top] = means_of(layer, routes);
  add(layer, kRouterEntropyMean, {entropy, std::log(static_cast<double>(experts_))});
  add(layer, kTopWeight, {top, 1 / static_cast<double>(chosen_)});
  take_changes(layer, routes);
  if (layer.sample.masked_diffusion)
    add(layer, kByState, specialisation_of(routes, states_of(layer.forward)));
  if (!layer.sample.region_of_token.empty())
    add(layer, kByRegion, specialisation_of(routes, regions_of_tokens(layer.sample, layer.forward)));
  if (!layer.forward.types.empty()) add(layer, kByType, specialisation_of(routes, types_of(layer.forward)));
}

WithNull SampleRouting::mean_of_layer(std::int64_t l, std::int64_t quantity) const {
  WithNull sum{0, 0};
  double count = 0;
  for (std::int64_t bin = 0; bin < kStepBins; ++bin) {
    const size_t cell = cell_of(l, bin, quantity);
    sum.value += values_[cell];
    sum.null += nulls_[cell];
    count += counts_[cell];
  }
  if (count == 0) return {stats::kNan, stats::kNan};
  return {sum.value / count, sum.null / count};
}

WithNull SampleRouting::mean_of_bin(std::int64_t bin, std::int64_t quantity) const {
  WithNull sum{0, 0};
  double count = 0;
  for (std::int64_t l = 0; l < layers_; ++l) {
    const size_t cell = cell_of(l, bin, quantity);
    if (counts_[cell] == 0) continue;
    sum.value += values_[cell] / counts_[cell];
    sum.null += nulls_[cell] / counts_[cell];
    ++count;
  }
  if (count == 0) return {stats::kNan, stats::kNan};
  return {sum.value / count, sum.null / count};
}

void SampleRouting::finish(const ObservedSample& /*sample*/) {
  by_layer_ = by_bin_ = {};
  for (std::int64_t l = 0; l < layers_; ++l) {
    for (std::int64_t q = 0; q < kRoutingQuantities; ++q) by_layer_.add(mean_of_layer(l, q));
  }
  for (std::int64_t bin = 0; bin < kStepBins; ++bin) {
    for (std::int64_t q = 0; q < kRoutingQuantities; ++q) by_bin_.add(mean_of_bin(bin, q));
  }
}

void SampleRouting::state(StateArchive& archive) {
  for (auto* means : {&by_layer_, &by_bin_}) {
    archive.numbers(means->values);
    archive.numbers(means->nulls);
  }
  // How many experts there are no other part of a state knows.
  archive.number(experts_, 1, trace::kMostExperts);
  archive.length(load_, layers_ * trace::kMostExperts);
  if (std::ssize(load_) != layers_ * experts_)
    archive.refuse(std::to_string(layers_ * experts_) + " loads of experts", std::to_string(load_.size()));
  archive.counts(load_);
}

}  // namespace buoy::analysis
