#include "buoy/analysis/core/sample_run.h"

#include <algorithm>

#include "buoy/base/attempt.h"
#include "buoy/base/error.h"
#include "buoy/base/side_by_side.h"

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
void SampleRun::guarded(size_t a, const Work& work) {
  if (lacking_ == nullptr) return work(a);
  if (lacking_->has(a)) return;
  try {
    work(a);
  } catch (const std::exception& error) {
    lacking_->add(a, error);
  }
}

// Side by side where it takes milliseconds: behind the last sample somebody waits.
template <typename Work>
void SampleRun::for_all(const Work& work) const {
  if (is_large_) return run_side_by_side(kept_.size(), work);
  for (size_t a = 0; a < kept_.size(); ++a) work(a);
}

template <typename Work>
void SampleRun::each(const Work& work) {
  for (size_t a = 0; a < kept_.size(); ++a) guarded(a, work);
}

SampleRun::SampleRun(std::span<const std::unique_ptr<Analysis>> analyses, const SampleFacts& sample,
                     LackingAnalyses* lacking)
    : analyses_(analyses),
      lacking_(lacking),
      kept_(analyses.size()),
      is_large_(sample.layer_count() * sample.heads >= 256) {
  each([&](size_t a) {
    if (sample.forward_count() == 0) {
      throw_input_error({"sample " + sample.id(), "a forward that denoises, or the look at the final row",
                         "none among the observed ones"});
    }
    kept_[a] = analyses_[a]->begin(sample);
  });
}

void SampleRun::take(const LayerView& layer) {
  if (!layer.forward.shown()) return;
  each([&](size_t a) { kept_[a]->take(layer); });
}

void SampleRun::take_forward(const ForwardView& forward) {
  if (!forward.forward.shown()) return;
  each([&](size_t a) { kept_[a]->take_forward(forward); });
}

void SampleRun::finish_layer(const ObservedSample& sample, std::int64_t l) {
  each([&](size_t a) { kept_[a]->finish_layer(sample, l); });
}

void SampleRun::finish(const ObservedSample& sample) {
  is_finished_ = true;
  const auto finish_one = [&](size_t a) { kept_[a]->finish(sample); };
  for_all([&](size_t a) { guarded(a, finish_one); });
}

void SampleRun::end(const ObservedSample& sample) {
  if (!is_finished_) finish(sample);
  const auto end_one = [&](size_t a) { analyses_[a]->end(sample, *kept_[a]); };
  for_all([&](size_t a) { guarded(a, end_one); });
}

std::vector<std::vector<std::uint8_t>> SampleRun::states() const {
  std::vector<std::vector<std::uint8_t>> states(kept_.size());
  for_all([&](size_t a) {
    StateArchive archive;
    kept_[a]->state(archive);
    states[a] = archive.bytes();
  });
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
