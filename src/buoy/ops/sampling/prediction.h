#pragma once

#include <cstdint>
#include <span>

namespace buoy::ops {

inline constexpr std::int32_t kMostProbable = -1;  // in place of a held token
inline constexpr std::int32_t kNoToken = -1;       // behind the last token of a small vocabulary

// What one row of logits says, by its softmax. Of the tokens, ties go to the lower id.
struct RowPrediction {
  double confidence = 0;  // probability of the held token, or of the most probable one
  double entropy = 0;     // nats
  double margin = 0;      // between the two most probable tokens; 1 where there is but one
};

// `tokens` and `probabilities` have one length, the number of tokens to name, most probable first. Sums are
// in double and in the order of the ids, so two machines that agree on the logits agree on everything.
RowPrediction predict_row(std::span<const float> logits, std::int32_t held, std::span<std::int32_t> tokens,
                          std::span<float> probabilities);

// The oracle: a softmax written out, sorted as a whole.
RowPrediction predict_row_reference(std::span<const double> logits, std::int32_t held,
                                    std::span<std::int32_t> tokens, std::span<double> probabilities);

}  // namespace buoy::ops
