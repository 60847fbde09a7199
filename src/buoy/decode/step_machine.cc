#include "buoy/decode/step_machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/decode/options.h"

namespace buoy::decode {

StepMachine::StepMachine(std::span<const std::int32_t> prompt, std::int32_t generated_slots)
    : row_(prompt.begin(), prompt.end()), prompt_length_(static_cast<std::int32_t>(prompt.size())) {
  if (prompt.empty()) throw_usage_error({"prompt", "at least one token", "an empty prompt"});
  check_bounds("max_new_tokens", generated_slots);
  revealed_at_.assign(row_.size(), -1);
}

StepRecord StepMachine::advance_chosen(std::span<const ops::RowChoice> /*choices*/) {
  throw InternalError("a machine without choice rules was handed choices");
}

StepRecord StepMachine::advance_edited(std::span<const Edit> /*edits*/) {
  throw_usage_error({"edits", "a loop whose steps can be chosen by hand", "another"});
}

StepRecord StepMachine::edit_masked_row(std::span<const Edit> edits, std::int32_t mask_token,
                                        std::int32_t steps) {
  for (const auto& edit : edits) {
    if (edit.position < prompt_length_ || edit.position >= std::ssize(row_))
      throw_usage_error({"position",
                         fmt::format("one of the answer's, {} to {}", prompt_length_, row_.size() - 1),
                         std::to_string(edit.position)});
    if (edit.token < 0 && edit.token != kMaskAgain)
      throw_usage_error({"token", "an id", std::to_string(edit.token)});
  }
  StepRecord record{step_, steps, {}};
  for (const auto& edit : edits) {
    if (edit.token == kMaskAgain || edit.token == mask_token) {
      row_[static_cast<size_t>(edit.position)] = mask_token;
      revealed_at_[static_cast<size_t>(edit.position)] = -1;
    } else {
      reveal(record, edit.position, edit.token, edit.confidence);
    }
  }
  ++step_;
  return record;
}

void StepMachine::reveal(StepRecord& record, std::int32_t position, std::int32_t token, double confidence) {
  row_[static_cast<size_t>(position)] = token;
  revealed_at_[static_cast<size_t>(position)] = step_;
  record.reveals.push_back({position, token, confidence});
}

void StepMachine::hide(StepRecord& record, std::int32_t position, std::int32_t mask_token) {
  row_[static_cast<size_t>(position)] = mask_token;
  revealed_at_[static_cast<size_t>(position)] = -1;
  record.hidden_again.push_back(position);
}

std::vector<std::int32_t> highest(std::vector<Scored> candidates, std::int64_t count) {
  const auto kept = std::clamp<std::int64_t>(count, 0, static_cast<std::int64_t>(candidates.size()));
  std::partial_sort(candidates.begin(), candidates.begin() + kept, candidates.end(),
                    [](const Scored& a, const Scored& b) {
                      return a.score != b.score ? a.score > b.score : a.position < b.position;
                    });
  std::vector<std::int32_t> positions;
  for (std::int64_t i = 0; i < kept; ++i) positions.push_back(candidates[static_cast<size_t>(i)].position);
  std::sort(positions.begin(), positions.end());
  return positions;
}

}  // namespace buoy::decode
