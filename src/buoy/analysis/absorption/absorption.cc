#include <algorithm>
#include <memory>
#include <optional>
#include <span>

#include "buoy/analysis/absorption/absorption_state.h"
#include "buoy/analysis/absorption/absorption_tables.h"
#include "buoy/analysis/core/analysis.h"
#include "buoy/stats/not_a_number.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

std::vector<std::int64_t> groups_named(const ObservedSample& sample, std::string_view part) {
  std::vector<std::int64_t> groups;
  const auto names = sample.group_names();
  for (size_t g = 0; g < names.size(); ++g) {
    if (names[g].find(part) != std::string::npos) groups.push_back(static_cast<std::int64_t>(g));
  }
  return groups;
}

std::span<const double> vector_of(const Received& received, std::int64_t head) {
  return {head < 0 ? received.mean.data() : received.head(head), static_cast<size_t>(received.tokens)};
}

size_t largest(std::span<const double> values) {
  return static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

class Absorption final : public Analysis {
 public:
  Absorption(const TraceFacts& facts, const AnalysisOptions& options)
      : rule_options_{options.epsilon, options.share_factor, options.mad_factor},
        options_(options),
        axis_(facts.manifest) {}

  void add(const ObservedSample& sample) override {
    require_array(sample.stored(), trace::kReceived);
    axis_.take(sample);
    if (!state_) state_.emplace(axis_, options_);
    if (!detector_ || !detector_->fits(sample.causal, sample.tokens))
      detector_.emplace(sample.causal, sample.tokens, rule_options_);
    masked_diffusion_ = sample.masked_diffusion;
    const auto even = groups_named(sample, "even"), odd = groups_named(sample, "odd");
    const std::int64_t final_index = sample.final_index();
    for (std::int64_t s = 0; s < std::max(sample.step_count(), final_index + 1); ++s) {
      const bool step = s < sample.step_count();
      if (!step && s != final_index) continue;
      const std::int64_t bin = step ? step_bin(sample, s) : -1;
      for (std::int64_t l = 0; l < axis_.size(); ++l) {
        const Received received = sample.received(s, l);
        for (std::int64_t h = -1; h < sample.heads; ++h)
          take({l, h < 0 ? kHeadMean : kPerHead, h, bin, s == final_index}, vector_of(received, h));
        if (!step || even.empty() || odd.empty()) continue;
        const Received a = sample.received(s, l, even), b = sample.received(s, l, odd);
        for (std::int64_t h = -1; h < sample.heads; ++h)
          halve({l, h < 0 ? kHeadMean : kPerHead, h, bin, s == final_index}, vector_of(a, h),
                vector_of(b, h));
      }
    }
    state_->add_sample(sample.id(), axis_,
                       final_index >= 0 && sample.row_at(final_index) == sample.final_row);
  }

  std::vector<Table> tables() const override {
    return absorption_tables({axis_, rule_options_, masked_diffusion_, state_ ? &*state_ : nullptr});
  }

 private:
  void take(const AbsorptionState::Place& place, std::span<const double> received) {
    state_->take(place, {kFirstPosition, received[0], detector_->null()[0], 1});
    detector_->look(received);
    for (size_t r = 0; r < kAbsorptionRules.size(); ++r) {
      detector_->find(kAbsorptionRules[r], anchors_);
      const auto selector = static_cast<std::int64_t>(r) + 1;
      if (!anchors_.defined) {
        state_->take(place, {selector, stats::kNan, stats::kNan, stats::kNan});
        continue;
      }
      state_->take(place, {selector, share_of(anchors_.positions, received),
                           share_of(anchors_.positions, detector_->null()),
                           static_cast<double>(anchors_.positions.size())});
    }
  }

  // The largest position chosen on one half of the queries is scored on the other, both ways.
  void halve(const AbsorptionState::Place& place, std::span<const double> even, std::span<const double> odd) {
    const size_t of_even = largest(even), of_odd = largest(odd);
    state_->take_halves(place, (even[of_even] + odd[of_odd]) / 2, (odd[of_even] + even[of_odd]) / 2);
  }

  RuleOptions rule_options_;
  AnalysisOptions options_;
  LayerAxis axis_;
  bool masked_diffusion_ = false;
  std::optional<AnchorDetector> detector_;
  Anchors anchors_;
  std::optional<AbsorptionState> state_;
};

}  // namespace

std::unique_ptr<Analysis> make_absorption(const TraceFacts& facts, const AnalysisOptions& options) {
  return std::make_unique<Absorption>(facts, options);
}

}  // namespace buoy::analysis
