#pragma once

#include <cstdint>

#include "buoy/tensor/context.h"

namespace buoy::ops {

struct TopTokensArgs {
  const float* logits;  // [rows, vocabulary]
  std::int64_t rows;
  std::int64_t vocabulary;
  std::int64_t top;      // 1 to vocabulary
  std::int32_t* tokens;  // [rows, top], likeliest first; ties to the lower id
  float* probabilities;  // [rows, top], of a softmax over the whole row
};

// The likeliest tokens of every row. In double and in token order, as everything in sampling.h.
void top_tokens(const Context& context, const TopTokensArgs& args);

}  // namespace buoy::ops
