#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "buoy/analysis/core/analysis.h"
#include "buoy/analysis/predictions/calibration.h"
#include "buoy/stats/not_a_number.h"

namespace buoy::analysis {

enum PredictedState : std::int64_t { kMaskedPositions, kRevealedPositions, kPredictedStates };
enum PredictedQuantity : std::int64_t { kConfidence, kEntropy, kMargin, kPredictedQuantities };

// What is kept of one sample. While it runs, what every forward expects at every generated position; when it
// is over, sums by step and one entry for each token of the answer.
class SamplePredictions final : public SampleAnalysis {
 public:
  explicit SamplePredictions(const SampleFacts& sample);

  void take(const LayerView& /*layer*/) override {}
  void take_forward(const ForwardView& forward) override;
  void finish(const ObservedSample& sample) override;
  void state(StateArchive& archive) override;

  // Steps with numbers: the observed ones, or the generated tokens of an autoregressive model.
  std::int64_t steps() const { return steps_; }
  double count(std::int64_t step, PredictedState state) const;
  double mean(std::int64_t step, PredictedState state,
              PredictedQuantity quantity) const;  // NaN: no positions

  static constexpr std::int32_t kNever = -1, kNotObserved = -2;
  struct Token {
    std::int32_t revealed_at = kNever;         // or kNever
    std::int32_t committed_at = kNotObserved;  // or kNever: not on top at the last step up to its reveal
    std::array<float, kPredictedQuantities> at_reveal = {};  // NaN: not observed
  };
  std::int64_t tokens() const { return answer_length_; }  // of the answer, padding left out
  Token token(std::int64_t slot) const;

  // Revealed positions over steps, and how many of them hold the most probable token.
  double revealed = 0, kept_on_top = 0;
  // Of the confidence of positions masked at two consecutive observed steps: its correlation between the two,
  // mean over such pairs of steps; NaN: there is none with three positions that differ.
  double step_correlation = stats::kNan;
  // Of the finished row: tokens of the answer, and their probabilities added up.
  double final_tokens = 0, final_confidence = 0;
  // Masked positions before their reveal, held against the token that came.
  CalibrationCounts final_token;

 private:
  struct Expected {
    float confidence, entropy, margin;
    std::int32_t token;  // the most probable
  };
  const Expected& at(std::int64_t s, std::int64_t slot) const {
    return expected_[static_cast<size_t>(s * slots_ + slot)];
  }
  void add_to_step(std::int64_t step, PredictedState state, const Expected& expected);
  void take_position(const ObservedSample& sample, std::int64_t s, std::int64_t slot);
  void take_token(const ObservedSample& sample, std::int64_t slot);
  void correlate_steps(const ObservedSample& sample);

  bool diffusion_;
  std::int64_t forwards_, slots_, steps_;
  std::vector<Expected> expected_;  // [forwards, slots], until the sample is over
  std::vector<double> sums_;        // [steps, states, quantities and a count]
  std::int64_t answer_length_ = 0;
  std::vector<std::int32_t> revealed_at_, committed_at_;  // [slots]
  std::vector<float> at_reveal_;                          // [slots, quantities]
};

}  // namespace buoy::analysis
