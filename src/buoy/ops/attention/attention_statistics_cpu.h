#pragma once

#include "buoy/ops/attention/attention_statistics.h"

namespace buoy::ops {

void attention_statistics_cpu(const Context& context, const AttentionShape& shape,
                              const AttentionSequence& sequence, const AttentionStatistics& wanted);

}  // namespace buoy::ops
