#include "buoy/analysis/steps/sample_steps.h"

#include <cmath>

#include "buoy/analysis/steps/similarity.h"
#include "buoy/stats/not_a_number.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

// Where blocks are decoded, those behind the block do not exist yet.
std::int64_t keys_there(const LayerView& layer) {
  return layer.sample.reach_at(layer.s()).end;
}

struct HeadPlace {
  std::int64_t head, tokens, keys;
};
std::span<const double> of_head(const std::vector<double>& all, const HeadPlace& at) {
  return std::span(all).subspan(static_cast<size_t>(at.head * at.tokens), static_cast<size_t>(at.keys));
}

}  // namespace

SampleSteps::SampleSteps(const SampleFacts& sample, std::int64_t keys, bool rows)
    : means({sample.layer_count(), sample.heads, kStepQuantities}),
      keys_(keys),
      rows_(rows && sample.has(trace::kRowWeights)),
      layers_(static_cast<size_t>(sample.layer_count())) {}

// The chances of every key, [heads, tokens]; empty where fewer keys exist than are wanted.
std::vector<double> SampleSteps::top_of(const LayerView& layer) const {
  const std::int64_t tokens = layer.sample.tokens, keys = keys_there(layer);
  std::vector<double> top;
  if (keys < keys_) return top;
  for (std::int64_t h = 0; h < layer.sample.heads; ++h) {
    const auto best = top_chances(of_head(layer.received().share, {h, tokens, keys}), keys_);
    top.insert(top.end(), best.begin(), best.end());
    top.resize(static_cast<size_t>((h + 1) * tokens), 0.0);
  }
  return top;
}

void SampleSteps::take(const LayerView& layer) {
  if (!layer.forward.is_step || layer.sample.step_count() < 2) return;
  Seen& seen = layers_[static_cast<size_t>(layer.l)];
  const auto& now = layer.received().share;
  auto top = top_of(layer);
  const std::int64_t block = layer.sample.blocks ? layer.sample.reach_at(layer.s()).first : -1;
  if (block != seen.block) {
    seen.block = block;
    seen.block_top.clear();
  }
  compare(layer, seen, top);
  if (seen.first.empty()) {
    seen.first = now;
    seen.first_top = top;
  }
  if (block >= 0 && seen.block_top.empty()) seen.block_top = top;
  seen.before = now;
  seen.before_top = std::move(top);
  if (rows_) compare_rows(layer, seen);
}

void SampleSteps::compare(const LayerView& layer, const Seen& seen, const std::vector<double>& top) {
  if (seen.before.empty()) return;
  const auto& now = layer.received().share;
  for (std::int64_t h = 0; h < layer.sample.heads; ++h) {
    const auto of = [&](const std::vector<double>& all) {
      return of_head(all, {h, layer.sample.tokens, keys_there(layer)});
    };
    means.add_head(layer, h, kStepCosine, cosine_of(of(seen.before), of(now)));
    means.add_head(layer, h, kStepOverlap, overlap_of(of(seen.before), of(now)));
    means.add_head(layer, h, kFirstCosine, cosine_of(of(seen.first), of(now)));
    means.add_head(layer, h, kFirstOverlap, overlap_of(of(seen.first), of(now)));
    if (top.empty()) continue;
    const auto recall = [&](const std::vector<double>& then, StepQuantity quantity) {
      if (!then.empty()) means.add_head(layer, h, quantity, recall_of(of(then), of(top), keys_));
    };
    const auto mass = [&](const std::vector<double>& then, StepQuantity quantity) {
      if (!then.empty()) means.add_head(layer, h, quantity, recalled_mass(of(then), of(top), keys_, of(now)));
    };
    recall(seen.first_top, kRecall);
    recall(seen.before_top, kRecallBefore);
    mass(seen.first_top, kRecalledMass);
    recall(seen.block_top, kBlockRecall);
    mass(seen.block_top, kBlockRecalledMass);
  }
}

void SampleSteps::compare_rows(const LayerView& layer, Seen& seen) {
  const auto weights = layer.floats(trace::kRowWeights);  // [rows, heads, tokens]
  const std::int64_t heads = layer.sample.heads, tokens = layer.sample.tokens,
                     rows = std::ssize(weights) / (heads * tokens);
  for (std::int64_t h = 0; h < heads && !seen.rows.empty(); ++h) {
    double value = 0, null = 0, count = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto at = static_cast<size_t>((row * heads + h) * tokens),
                 size = static_cast<size_t>(keys_there(layer));
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
