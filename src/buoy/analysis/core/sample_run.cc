#include "buoy/analysis/core/sample_run.h"

namespace buoy::analysis {

SampleRun::SampleRun(std::span<const std::unique_ptr<Analysis>> analyses, const SampleFacts& sample)
    : analyses_(analyses) {
  for (const auto& analysis : analyses) kept_.push_back(analysis->begin(sample));
}

void SampleRun::take(const LayerView& layer) {
  for (const auto& kept : kept_) kept->take(layer);
}

void SampleRun::finish_layer(const ObservedSample& sample, std::int64_t l) {
  for (const auto& kept : kept_) kept->finish_layer(sample, l);
}

void SampleRun::end(const ObservedSample& sample) {
  for (size_t a = 0; a < kept_.size(); ++a) analyses_[a]->end(sample, *kept_[a]);
}

}  // namespace buoy::analysis
