#pragma once

#include "buoy/ops/attention/attention.h"

namespace buoy::ops {

void attention_cpu(const Context& context, const AttentionShape& shape,
                   std::span<const AttentionSequence> sequences, AttentionScratch& scratch);

void attention_probabilities_cpu(const Context& context, const AttentionShape& shape,
                                 const AttentionSequence& sequence, const ProbabilityMatrices& out);

}  // namespace buoy::ops
