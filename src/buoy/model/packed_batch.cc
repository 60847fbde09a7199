#include "buoy/model/packed_batch.h"

namespace buoy::model {

PackedBatch::PackedBatch(std::span<const SequenceInput> inputs) : sequences(inputs) {
  for (const auto& sequence : inputs) {
    const auto first_row = static_cast<std::int64_t>(tokens.size());
    const auto past = static_cast<std::int32_t>(sequence.past());
    first_rows.push_back(first_row);
    for (size_t i = 0; i < sequence.tokens.size(); ++i)
      positions.push_back(past + static_cast<std::int32_t>(i));
    tokens.insert(tokens.end(), sequence.tokens.begin(), sequence.tokens.end());
    for (const auto row : sequence.logit_rows) logit_rows.push_back(first_row + row);
  }
}

}  // namespace buoy::model
