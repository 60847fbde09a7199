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
  for (size_t a = 0; a < kept_.size(); ++a) {
    if (!is_read_) kept_[a]->finish(sample);
    analyses_[a]->end(sample, *kept_[a]);
  }
}

std::vector<std::vector<std::uint8_t>> SampleRun::states() const {
  std::vector<std::vector<std::uint8_t>> states;
  for (const auto& kept : kept_) {
    StateArchive archive;
    kept->state(archive);
    states.push_back(archive.bytes());
  }
  return states;
}

void SampleRun::read(size_t analysis, std::span<const std::uint8_t> state, const std::string& where) {
  StateArchive archive(state, where);
  kept_[analysis]->state(archive);
  archive.end();
  is_read_ = true;
}

}  // namespace buoy::analysis
