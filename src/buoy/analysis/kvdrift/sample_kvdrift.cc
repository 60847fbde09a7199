#include "buoy/analysis/kvdrift/sample_kvdrift.h"

#include <algorithm>
#include <numeric>

#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

// Of every token that ran: 1 less the cosine, mean over the key/value heads.
std::vector<double> drift_of(const LayerView& layer, std::span<const float> cosines) {
  const Reach& reach = layer.forward.reach;
  std::vector<double> out(static_cast<size_t>(reach.queries()), 0.0);
  for (std::int64_t v = 0; v < layer.sample.kv_heads; ++v) {
    const auto ran = cosines.subspan(static_cast<size_t>(v * layer.sample.tokens + reach.first), out.size());
    for (size_t i = 0; i < out.size(); ++i)
      out[i] += (1 - static_cast<double>(ran[i])) / static_cast<double>(layer.sample.kv_heads);
  }
  return out;
}

// The same of the residual stream, of the rows that were looked at.
std::vector<double> state_drift_of(const LayerView& layer) {
  const auto cosines = layer.floats(trace::kResidualCosine);
  std::vector<double> out;
  for (size_t r = 0; r < cosines.size(); ++r) {
    if (layer.forward.reach.ran(layer.sample.row_positions[r]))
      out.push_back(1 - static_cast<double>(cosines[r]));
  }
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
      before_(static_cast<size_t>(sample.layer_count())) {}

// Records compare with the forward before. Where blocks are decoded it may have run other tokens.
bool SampleKvDrift::compares(const LayerView& layer) const {
  const Before& before = before_[static_cast<size_t>(layer.l)];
  if (!layer.sample.blocks) return before.place >= 0;
  return before.place + 1 == layer.forward.place && before.reach == layer.forward.reach;
}

void SampleKvDrift::take(const LayerView& layer) {
  if (!layer.forward.is_step) return;
  if (compares(layer)) {
    const auto values = drift_of(layer, layer.floats(trace::kValueCosine));
    take_drift(layer, 0, drift_of(layer, layer.floats(trace::kKeyCosine)));
    take_drift(layer, kDriftedTokens, values);
    means.add_layer(layer, kMovingTokens, {share_moving(values), 0});
    if (layer.sample.has(trace::kResidualCosine)) {
      const auto states = state_drift_of(layer);
      if (!states.empty()) means.add_layer(layer, kMovingStates, {share_moving(states), 0});
    }
  }
  before_[static_cast<size_t>(layer.l)] = {layer.forward.place, layer.forward.reach, layer.forward.masked};
}

void SampleKvDrift::take_drift(const LayerView& layer, std::int64_t first, const std::vector<double>& drift) {
  const auto& before = before_[static_cast<size_t>(layer.l)].masked;
  const auto ran = static_cast<size_t>(layer.forward.reach.first);
  const double mean = std::accumulate(drift.begin(), drift.end(), 0.0) / static_cast<double>(drift.size());
  means.add_layer(layer, first + kAllTokens, {mean, 0});
  const auto received = std::span(layer.received().mean).subspan(ran, drift.size());
  const auto best = std::max_element(received.begin(), received.end()) - received.begin();
  means.add_layer(layer, first + kBestToken, {drift[static_cast<size_t>(best)], mean});
  std::array<double, kDriftedTokens> sums{}, counts{};
  for (size_t j = 0; j < drift.size(); ++j) {
    const bool was = before[ran + j] != 0, is = layer.forward.masked[ran + j] != 0;
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
  before_ = {};
}

}  // namespace buoy::analysis
