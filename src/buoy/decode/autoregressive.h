#pragma once

#include <optional>

#include "buoy/decode/options.h"
#include "buoy/decode/step_machine.h"
#include "buoy/model/kv_cache.h"

namespace buoy::decode {

struct AutoregressiveOptions {
  std::int32_t max_new_tokens = 128;
  double temperature = 0;  // 0: greedy, filters unused
  std::optional<std::int64_t> top_k;
  std::optional<double> top_p;
  double repetition_penalty = 1;
  std::vector<std::int32_t> eos_tokens;
  std::uint64_t seed = 0;
};

// What the options come to for this loop.
AutoregressiveOptions autoregressive_options(const DecodeOptions& options);

// UsageError for values that make no sense together; the machine looks too.
void check_options(const AutoregressiveOptions& options);

// transformers' generate: one token per step from the last row, with a key/value cache; stops at an
// end-of-sequence token, which is kept.
class AutoregressiveMachine final : public StepMachine {
 public:
  AutoregressiveMachine(std::span<const std::int32_t> prompt, const AutoregressiveOptions& options,
                        model::KvCache cache);

  bool finished() const override { return finished_; }
  std::vector<model::SequenceInput> next_forwards() override;
  StepRecord advance(std::span<const LogitRows> logits) override;
  std::optional<std::vector<ops::ChoiceRule>> choice_rules() const override;
  StepRecord advance_chosen(std::span<const ops::RowChoice> choices) override;
  // One edit: the next token. A mask instead of a token, at an earlier position, takes back all from there
  // on.
  StepRecord advance_edited(std::span<const Edit> edits) override;
  std::vector<std::int32_t> open_positions() const override {
    return {static_cast<std::int32_t>(row_.size())};
  }
  std::unique_ptr<StepMachine> clone() const override;
  // As it was before this step, which it has taken.
  void rewind(std::int32_t step);

 private:
  AutoregressiveMachine(const AutoregressiveMachine& other, model::KvCache cache);
  model::KvCache cache_for(std::int64_t tokens) const;
  void drop_from(std::int32_t position);
  StepRecord settle(const ops::RowChoice& choice);

  AutoregressiveOptions options_;
  model::KvCache cache_;
  std::int32_t last_row_ = 0;  // of the tokens not yet in the cache
  bool finished_ = false;
};

}  // namespace buoy::decode
