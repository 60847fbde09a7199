#include "buoy/analysis/steps/sample_steps.h"

#include <cmath>

#include "buoy/analysis/steps/similarity.h"
#include "buoy/stats/not_a_number.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {

SampleSteps::SampleSteps(const SampleFacts& sample, std::int64_t keys, bool rows)
    : means({sample.layer_count(), sample.heads, kStepQuantities}),
      keys_(keys),
      rows_(rows && sample.has(trace::kRowWeights)),
      layers_(static_cast<size_t>(sample.layer_count())) {}

void SampleSteps::take(const LayerView& layer) {
  if (!layer.forward.is_step || layer.sample.step_count() < 2) return;
  Seen& seen = layers_[static_cast<size_t>(layer.l)];
  const auto& now = layer.received().share;
  const auto tokens = static_cast<size_t>(layer.sample.tokens);
  std::vector<double> top;
  for (std::int64_t h = 0; h < layer.sample.heads; ++h) {
    const auto of = [&](const std::vector<double>& all) {
      return std::span(all).subspan(static_cast<size_t>(h) * tokens, tokens);
    };
    const auto best = top_chances(of(now), keys_);
    top.insert(top.end(), best.begin(), best.end());
    if (seen.before.empty()) continue;
    means.add_head(layer, h, kStepCosine, cosine_of(of(seen.before), of(now)));
    means.add_head(layer, h, kStepOverlap, overlap_of(of(seen.before), of(now)));
    means.add_head(layer, h, kFirstCosine, cosine_of(of(seen.first), of(now)));
    means.add_head(layer, h, kFirstOverlap, overlap_of(of(seen.first), of(now)));
    means.add_head(layer, h, kRecall, recall_of(of(seen.first_top), best, keys_));
    means.add_head(layer, h, kRecallBefore, recall_of(of(seen.before_top), best, keys_));
    means.add_head(layer, h, kRecalledMass, recalled_mass(of(seen.first_top), best, keys_, of(now)));
  }
  if (seen.first.empty()) {
    seen.first = now;
    seen.first_top = top;
  }
  seen.before = now;
  seen.before_top = std::move(top);
  if (rows_) compare_rows(layer, seen);
}

void SampleSteps::compare_rows(const LayerView& layer, Seen& seen) {
  const auto weights = layer.floats(trace::kRowWeights);  // [rows, heads, tokens]
  const std::int64_t heads = layer.sample.heads, tokens = layer.sample.tokens,
                     rows = std::ssize(weights) / (heads * tokens);
  for (std::int64_t h = 0; h < heads && !seen.rows.empty(); ++h) {
    double value = 0, null = 0, count = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto at = static_cast<size_t>((row * heads + h) * tokens), size = static_cast<size_t>(tokens);
      const auto here = weights.subspan(at, size),
                 there = std::span<const float>(seen.rows).subspan(at, size);
      const std::vector<double> a(here.begin(), here.end()), b(there.begin(), there.end());
      const WithNull one = cosine_of(a, b);
      if (std::isnan(one.value)) continue;
      value += one.value, null += one.null, count += 1;
    }
    if (count > 0) means.add_head(layer, h, kRowCosine, {value / count, null / count});
  }
  seen.rows.assign(weights.begin(), weights.end());
}

}  // namespace buoy::analysis
