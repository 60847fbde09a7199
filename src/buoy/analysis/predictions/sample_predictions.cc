#include "buoy/analysis/predictions/sample_predictions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "buoy/analysis/sample/answer_span.h"
#include "buoy/base/error.h"
#include "buoy/stats/not_a_number.h"
#include "buoy/stats/rank_correlation.h"
#include "buoy/trace/rows/answer_rows.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

constexpr std::int64_t kSums = kPredictedQuantities + 1;  // and how many positions

size_t sum_index(std::int64_t step, PredictedState state, std::int64_t which) {
  return static_cast<size_t>((step * kPredictedStates + state) * kSums + which);
}

// Whether the row ran that writes a position. In the look at the final row all do.
bool was_there(const ObservedSample& sample, std::int64_t s, std::int64_t position) {
  return sample.reach_at(s).ran(trace::row_that_writes(position, sample.prediction_offset));
}

}  // namespace

SamplePredictions::SamplePredictions(const SampleFacts& sample)
    : diffusion_(sample.masked_diffusion),
      forwards_(sample.forward_count()),
      slots_(sample.tokens - sample.prompt_length),
      steps_(diffusion_ ? sample.step_count() : slots_),
      sums_(static_cast<size_t>(steps_ * kPredictedStates * kSums), 0.0),
      revealed_at_(static_cast<size_t>(slots_), kNever),
      committed_at_(static_cast<size_t>(slots_), kNotObserved),
      at_reveal_(static_cast<size_t>(slots_ * kPredictedQuantities),
                 std::numeric_limits<float>::quiet_NaN()) {}

void SamplePredictions::take_forward(const ForwardView& forward) {
  if (expected_.empty()) expected_.resize(static_cast<size_t>(forwards_ * slots_));
  const auto confidence = forward.floats(trace::kPredictedConfidence),
             entropy = forward.floats(trace::kPredictedEntropy),
             margin = forward.floats(trace::kPredictedMargin);
  const auto tokens = forward.integers(trace::kPredictedTokens);
  for (size_t slot = 0; slot < static_cast<size_t>(slots_); ++slot) {
    expected_[static_cast<size_t>(forward.s() * slots_) + slot] = {
        confidence[slot], entropy[slot], margin[slot], tokens[slot * tokens.size() / confidence.size()]};
  }
}

double SamplePredictions::count(std::int64_t step, PredictedState state) const {
  return sums_[sum_index(step, state, kPredictedQuantities)];
}

double SamplePredictions::mean(std::int64_t step, PredictedState state, PredictedQuantity quantity) const {
  const double positions = count(step, state);
  return positions > 0 ? sums_[sum_index(step, state, quantity)] / positions : stats::kNan;
}

void SamplePredictions::add_to_step(std::int64_t step, PredictedState state, const Expected& expected) {
  sums_[sum_index(step, state, kConfidence)] += expected.confidence;
  sums_[sum_index(step, state, kEntropy)] += expected.entropy;
  sums_[sum_index(step, state, kMargin)] += expected.margin;
  sums_[sum_index(step, state, kPredictedQuantities)] += 1;
}

void SamplePredictions::take_position(const ObservedSample& sample, std::int64_t s, std::int64_t slot) {
  const std::int64_t position = sample.prompt_length + slot;
  const Expected& expected = at(s, slot);
  const auto final_token_id = sample.final_row[static_cast<size_t>(position)];
  if (s == sample.final_index() && sample.has_final_row() && was_there(sample, s, position)) {
    final_tokens += 1;
    final_confidence += expected.confidence;
  }
  if (!diffusion_) return add_to_step(slot, kMaskedPositions, expected);
  if (s >= sample.step_count() || !was_there(sample, s, position)) return;
  const bool masked = sample.masked_at(s, position);
  add_to_step(s, masked ? kMaskedPositions : kRevealedPositions, expected);
  if (!masked) {
    revealed += 1;
    kept_on_top += expected.token == sample.row_at(s)[static_cast<size_t>(position)] ? 1 : 0;
    return;
  }
  // What is revealed now is right by being chosen; what never is has no final token.
  const auto revealed_at = sample.revealed_at[static_cast<size_t>(position)];
  if (revealed_at > sample.steps[static_cast<size_t>(s)])
    final_token.add(expected.confidence, expected.token == final_token_id);
}

void SamplePredictions::take_token(const ObservedSample& sample, std::int64_t slot) {
  const auto position = static_cast<size_t>(sample.prompt_length + slot);
  const std::int32_t revealed_at = sample.revealed_at[position];
  std::int32_t& committed_at = committed_at_[static_cast<size_t>(slot)];
  revealed_at_[static_cast<size_t>(slot)] = revealed_at;
  if (revealed_at < 0) return;
  const auto measure = [&](const Expected& expected) {
    float* values = at_reveal_.data() + slot * kPredictedQuantities;
    values[kConfidence] = expected.confidence;
    values[kEntropy] = expected.entropy;
    values[kMargin] = expected.margin;
  };
  if (!diffusion_) return measure(at(0, slot));
  for (std::int64_t s = sample.step_count() - 1; s >= 0; --s) {
    const auto step = sample.steps[static_cast<size_t>(s)];
    if (step > revealed_at) continue;
    if (!was_there(sample, s, sample.prompt_length + slot)) break;
    if (step == revealed_at) measure(at(s, slot));
    if (committed_at == kNotObserved) committed_at = kNever;
    if (at(s, slot).token != sample.final_row[position]) break;
    committed_at = step;
  }
}

void SamplePredictions::correlate_steps(const ObservedSample& sample) {
  double sum = 0, pairs = 0;
  for (std::int64_t s = 0; s + 1 < sample.step_count(); ++s) {
    std::vector<double> now, next;
    for (std::int64_t slot = 0; slot < answer_length_; ++slot) {
      if (!sample.masked_at(s + 1, sample.prompt_length + slot)) continue;  // what is masked then was before
      now.push_back(at(s, slot).confidence);
      next.push_back(at(s + 1, slot).confidence);
    }
    const double correlation = stats::pearson(now, next);
    if (std::isnan(correlation)) continue;
    sum += correlation;
    pairs += 1;
  }
  if (pairs > 0) step_correlation = sum / pairs;
}

void SamplePredictions::finish(const ObservedSample& sample) {
  BUOY_CHECK(std::ssize(expected_) == forwards_ * slots_);
  answer_length_ = std::min(answer_end(sample), sample.tokens) - sample.prompt_length;
  for (std::int64_t slot = 0; slot < answer_length_; ++slot) {
    for (std::int64_t s = 0; s < forwards_; ++s) take_position(sample, s, slot);
    take_token(sample, slot);
  }
  if (diffusion_) correlate_steps(sample);
  expected_ = {};
}

SamplePredictions::Token SamplePredictions::token(std::int64_t slot) const {
  Token out{revealed_at_[static_cast<size_t>(slot)], committed_at_[static_cast<size_t>(slot)]};
  std::copy_n(at_reveal_.begin() + slot * kPredictedQuantities, kPredictedQuantities, out.at_reveal.begin());
  return out;
}

void SamplePredictions::state(StateArchive& archive) {
  archive.numbers(sums_);
  archive.number(revealed);
  archive.number(kept_on_top);
  archive.number(final_tokens);
  archive.number(final_confidence);
  archive.numbers(final_token.sums);
  archive.number(answer_length_, 0, slots_);
  archive.integers(revealed_at_, kNever, INT32_MAX);
  archive.integers(committed_at_, kNotObserved, INT32_MAX);
  archive.numbers(at_reveal_);
  archive.last_number_if_there(step_correlation);
}

}  // namespace buoy::analysis
