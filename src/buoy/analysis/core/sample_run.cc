#include "buoy/analysis/core/sample_run.h"

#include <algorithm>

#include "buoy/base/attempt.h"

namespace buoy::analysis {

bool LackingAnalyses::has(size_t analysis) const {
  const std::lock_guard lock(mutex_);
  return reasons_[analysis].has_value();
}

void LackingAnalyses::add(size_t analysis, const std::exception& error) {
  const std::lock_guard lock(mutex_);
  if (!reasons_[analysis]) reasons_[analysis] = reason_of(error);
}

bool LackingAnalyses::all() const {
  const std::lock_guard lock(mutex_);
  return std::all_of(reasons_.begin(), reasons_.end(), [](const auto& reason) { return reason.has_value(); });
}

template <typename Work>
void SampleRun::each(const Work& work) {
  for (size_t a = 0; a < kept_.size(); ++a) {
    if (lacking_ == nullptr) {
      work(a);
      continue;
    }
    if (lacking_->has(a)) continue;
    try {
      work(a);
    } catch (const std::exception& error) {
      lacking_->add(a, error);
    }
  }
}

SampleRun::SampleRun(std::span<const std::unique_ptr<Analysis>> analyses, const SampleFacts& sample,
                     LackingAnalyses* lacking)
    : analyses_(analyses), lacking_(lacking), kept_(analyses.size()) {
  each([&](size_t a) { kept_[a] = analyses_[a]->begin(sample); });
}

void SampleRun::take(const LayerView& layer) {
  each([&](size_t a) { kept_[a]->take(layer); });
}

void SampleRun::finish_layer(const ObservedSample& sample, std::int64_t l) {
  each([&](size_t a) { kept_[a]->finish_layer(sample, l); });
}

void SampleRun::finish(const ObservedSample& sample) {
  is_finished_ = true;
  each([&](size_t a) { kept_[a]->finish(sample); });
}

void SampleRun::end(const ObservedSample& sample) {
  if (!is_finished_) finish(sample);
  each([&](size_t a) { analyses_[a]->end(sample, *kept_[a]); });
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

void SampleRun::read(const std::function<StateArchive(size_t analysis)>& state_of) {
  is_finished_ = true;
  each([&](size_t a) {
    StateArchive archive = state_of(a);
    kept_[a]->state(archive);
    archive.end();
  });
}

}  // namespace buoy::analysis
