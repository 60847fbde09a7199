#include "buoy/analysis/kvdrift/sample_kvdrift.h"

#include <algorithm>
#include <numeric>

#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

// Of every token: 1 less the cosine, mean over the key/value heads.
std::vector<double> drift_of(const SampleFacts& sample, std::span<const float> cosines) {
  const auto tokens = static_cast<size_t>(sample.tokens);
  std::vector<double> out(tokens, 0.0);
  for (size_t at = 0; at < cosines.size(); ++at)
    out[at % tokens] += (1 - static_cast<double>(cosines[at])) / static_cast<double>(sample.kv_heads);
  return out;
}

double share_moving(std::span<const double> drift) {
  const auto moving =
      std::count_if(drift.begin(), drift.end(), [](double one) { return 1 - one < kStandingStill; });
  return static_cast<double>(moving) / static_cast<double>(drift.size());
}

}  // namespace

SampleKvDrift::SampleKvDrift(const SampleFacts& sample)
    : means({sample.layer_count(), 0, kKvDriftQuantities}),
      masked_before_(static_cast<size_t>(sample.layer_count())) {}

void SampleKvDrift::take(const LayerView& layer) {
  if (!layer.forward.is_step) return;
  auto& before = masked_before_[static_cast<size_t>(layer.l)];
  if (!before.empty()) {
    const auto values = drift_of(layer.sample, layer.floats(trace::kValueCosine));
    take_drift(layer, 0, drift_of(layer.sample, layer.floats(trace::kKeyCosine)));
    take_drift(layer, kDriftedTokens, values);
    means.add_layer(layer, kMovingTokens, {share_moving(values), 0});
    if (layer.sample.has(trace::kResidualCosine)) {
      std::vector<double> states;
      for (const float cosine : layer.floats(trace::kResidualCosine)) states.push_back(1 - double{cosine});
      if (!states.empty()) means.add_layer(layer, kMovingStates, {share_moving(states), 0});
    }
  }
  before = layer.forward.masked;
}

void SampleKvDrift::take_drift(const LayerView& layer, std::int64_t first, const std::vector<double>& drift) {
  const auto& before = masked_before_[static_cast<size_t>(layer.l)];
  const double mean = std::accumulate(drift.begin(), drift.end(), 0.0) / static_cast<double>(drift.size());
  means.add_layer(layer, first + kAllTokens, {mean, 0});
  const auto& received = layer.received().mean;
  const auto best = std::max_element(received.begin(), received.end()) - received.begin();
  means.add_layer(layer, first + kBestToken, {drift[static_cast<size_t>(best)], mean});
  std::array<double, kDriftedTokens> sums{}, counts{};
  for (size_t j = 0; j < drift.size(); ++j) {
    const bool was = before[j] != 0, is = layer.forward.masked[j] != 0;
    const auto sort = static_cast<size_t>(is ? kMaskedTokens : was ? kRevealedTokens : kSettledTokens);
    sums[sort] += drift[j];
    counts[sort] += 1;
  }
  for (const auto sort : {kMaskedTokens, kRevealedTokens, kSettledTokens}) {
    const auto at = static_cast<size_t>(sort);
    if (counts[at] > 0) means.add_layer(layer, first + sort, {sums[at] / counts[at], mean});
  }
}

void SampleKvDrift::finish(const ObservedSample& /*sample*/) {
  means.finish();
  masked_before_ = {};
}

}  // namespace buoy::analysis
