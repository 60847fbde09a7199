#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "buoy/analysis/sample/sample_facts.h"
#include "buoy/trace/manifest.h"

namespace buoy::analysis {

// Heads are averaged before anything else, as the paper does; or every head is looked at by itself and the
// results are averaged.
enum View : std::int64_t { kHeadMean, kPerHead };
inline constexpr std::int64_t kViews = 2;
std::string_view view_name(std::int64_t view);  // "head_mean", "per_head"

// The layers all samples of a trace have in common.
class LayerAxis {
 public:
  explicit LayerAxis(const trace::Manifest& manifest);

  // Of the first sample; throws InputError when a later one has others.
  void take(const SampleFacts& sample);

  std::int64_t size() const { return static_cast<std::int64_t>(layers_.size()); }
  std::int64_t heads() const { return heads_; }
  std::int64_t number(std::int64_t l) const { return layers_[static_cast<size_t>(l)]; }
  const std::vector<std::int32_t>& numbers() const { return layers_; }
  double depth(std::int64_t l) const;        // 0 at the first layer of the model, 1 at the last
  std::int64_t third(std::int64_t l) const;  // 0, 1, 2: as the published thirds are cut
  // The index of a layer; throws UsageError naming those there are.
  std::int64_t index_of(std::int64_t layer) const;

 private:
  std::int64_t model_layers_, heads_;
  std::vector<std::int32_t> layers_;
};

// Runs may differ in the number of their steps: they are averaged by relative time.
inline constexpr std::int64_t kStepBins = 8;
double relative_step(const SampleFacts& sample, std::int64_t s);  // 0 first, 1 last; 1 without steps
std::int64_t step_bin(const SampleFacts& sample, std::int64_t s);

}  // namespace buoy::analysis
