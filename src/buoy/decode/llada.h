#pragma once

#include <optional>

#include "buoy/decode/options.h"
#include "buoy/decode/step_machine.h"

namespace buoy::decode {

enum class LladaOrder { kLowConfidence, kRandom };

struct LladaOptions {
  std::int32_t max_new_tokens = 128;
  std::int32_t steps = 128;
  std::int32_t block_length = 128;
  LladaOrder order = LladaOrder::kLowConfidence;
  double temperature = 0;
  double cfg_scale = 0;
  bool logits_eos_inf = false;          // forbid the end-of-sequence token
  bool confidence_eos_eot_inf = false;  // reveal end tokens last
  std::int32_t mask_token = 0;
  bool forbid_mask = false;    // as a proposal; else a position for which it is proposed stays masked
  bool dllm_schedule = false;  // the dllm library's numbers of positions; a step without any is left out
  std::optional<std::int32_t> eos_token, eot_token;
  std::uint64_t seed = 0;
};

// What the options come to for this loop; `mask_token` must be known. UsageError for an order there is none
// of.
LladaOptions llada_options(const DecodeOptions& options);

// UsageError for values that make no sense together; the machine looks too.
void check_options(const LladaOptions& options);

// The publisher's loop: blocks from left to right, in each a fixed number of steps with a fixed quota of
// positions; the whole row is seen at every step. It never stops early.
class LladaMachine final : public StepMachine {
 public:
  LladaMachine(std::span<const std::int32_t> prompt, const LladaOptions& options);

  bool finished() const override { return step_ == all_steps(); }
  std::vector<model::SequenceInput> next_forwards() override;
  StepRecord advance(std::span<const LogitRows> logits) override;
  std::optional<std::vector<ops::ChoiceRule>> choice_rules() const override;
  StepRecord advance_chosen(std::span<const ops::RowChoice> choices) override;
  StepRecord advance_edited(std::span<const Edit> edits) override;
  std::vector<std::int32_t> open_positions() const override { return candidates_; }
  std::unique_ptr<StepMachine> clone() const override { return std::make_unique<LladaMachine>(*this); }

 private:
  std::int32_t blocks() const { return options_.max_new_tokens / options_.block_length; }
  std::int32_t steps_per_block() const {
    return options_.dllm_schedule ? static_cast<std::int32_t>(dllm_counts_.size())
                                  : options_.steps / blocks();
  }
  std::int32_t all_steps() const { return steps_per_block() * blocks(); }
  std::int32_t block_begin() const;
  std::int64_t quota() const;
  StepRecord settle(std::span<const ops::RowChoice> choices);  // one for each candidate

  LladaOptions options_;
  std::vector<bool> is_prompt_;              // positions guidance hides
  std::vector<std::int32_t> unconditional_;  // the row with the prompt masked
  std::vector<std::int32_t> candidates_;     // masked positions up to the end of the block
  std::int64_t masks_in_block_ = 0;          // when the block began
  std::vector<std::int64_t> dllm_counts_;    // positions of each step of a block; empty: quotas
};

}  // namespace buoy::decode
