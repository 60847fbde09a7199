#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "analysis/synthetic_trace.h"

namespace buoy::testing {

inline constexpr std::int64_t kAnswerTokens = 6, kNeedle = 3;

// Who sees whom, which row writes a token, and how long the prompt is.
struct NeedleDesign {
  std::string attention = "bidirectional";
  std::int64_t offset = 0, prompt = 60;

  std::int64_t tokens() const { return prompt + kAnswerTokens; }
  std::int64_t row(std::int64_t slot) const { return prompt + slot - offset; }
  // Of a row of the answer: none of them is in the prefix but the last of the prompt, which sees it all.
  std::int64_t keys(std::int64_t slot) const {
    return attention == "bidirectional" ? tokens() : row(slot) + 1;
  }
};

// Chance that a head, writing a needle token, looks at it in the needle; otherwise anywhere, evenly.
using HeadSkill = std::map<std::pair<std::int64_t, std::int64_t>, double>;

// A needle of three tokens somewhere in the prompt; the answer says it and three words more, revealed in
// random order, one a step.
SyntheticTrace plant_retrieval(const ModelSize& size, const HeadSkill& skill, int samples, std::uint64_t seed,
                               const NeedleDesign& design = {});

}  // namespace buoy::testing
