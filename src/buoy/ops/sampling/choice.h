#pragma once

#include <cstdint>

#include "buoy/base/random.h"

namespace buoy::ops {

// How a token is chosen from one row of logits where the row itself lies (on a device). Covers what the
// decoding loops do with one row, filters (top-k, top-p), penalties and guidance apart.
struct ChoiceRule {
  enum class Draw : std::int32_t {
    kLargest,       // ties to the lower id
    kNoisyLargest,  // of logit + noise * Gumbel: a draw for every id, its id the index of the address
    kProportional,  // to the probability, by one draw
  };
  enum class Measure : std::int32_t {
    kProbability,      // of the token
    kMargin,           // between the two largest probabilities
    kNegativeEntropy,  // sum of p ln(p + 1e-10)
  };
  static constexpr std::int32_t kNone = -1;

  Draw draw = Draw::kLargest;
  Measure measure = Measure::kProbability;
  double temperature = 1;  // logits are divided by it before everything else
  double noise = 0;
  std::uint64_t seed = 0;
  DrawAddress address = {};
  std::int32_t forbidden = kNone;               // never chosen, weighs nothing
  std::int32_t unmeasured[2] = {kNone, kNone};  // may be chosen, but weighs nothing when it is measured
};

// Whether a row's largest logits and the sum of exponentials are all that the choice needs.
inline bool needs_no_logits(const ChoiceRule& rule) {
  return rule.draw == ChoiceRule::Draw::kLargest && rule.measure != ChoiceRule::Measure::kNegativeEntropy &&
         rule.temperature == 1 && rule.unmeasured[0] == ChoiceRule::kNone &&
         rule.unmeasured[1] == ChoiceRule::kNone;
}

// What that is, of a stretch of neighbouring ids; the forbidden one left out.
struct alignas(16) StretchBest {
  float largest, second;
  std::int32_t id;  // of the largest, ties to the lower one
  float sum;        // of exp(logit - largest)
};

struct RowChoice {
  double confidence;  // the rule's measure
  std::int32_t token;
};

}  // namespace buoy::ops
