#pragma once

#include <cstdint>

#include "buoy/ops/sampling/choice.h"
#include "buoy/tensor/stream.h"

namespace buoy::ops {

struct DeviceChoiceArgs {
  const float* logits;  // [rows, vocabulary]
  std::int64_t rows;
  std::int64_t vocabulary;
  const ChoiceRule* rules;  // [rows]; no kernel right before writes them
  RowChoice* choices;       // [rows]
  std::int32_t* flag;       // lowered to `code` when a logit is a NaN or an infinity
  std::int32_t code;
};

// All pointers are to device memory. In double, with the draws of base/random.h: the CPU's tokens for the
// CPU's logits, but for the order in which probabilities are summed.
void choose_cuda(const Stream& stream, const DeviceChoiceArgs& args);

// The same for rows that needs_no_logits(), from what the head's product left of them (LinearOutput::kBest).
struct DeviceBestArgs {
  const StretchBest* stretches;  // [rows, stretches_of_row]
  std::int64_t rows;
  std::int64_t stretches_of_row;
  const ChoiceRule* rules;  // [rows]
  RowChoice* choices;       // [rows]
};
void choose_best_cuda(const Stream& stream, const DeviceBestArgs& args);

}  // namespace buoy::ops
