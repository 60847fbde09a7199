#pragma once

#include <functional>
#include <optional>

#include "buoy/decode/options.h"
#include "buoy/decode/step_machine.h"

namespace buoy::decode {

// kP2 judges every position anew at each step: the least probable ones become masks (again).
enum class DreamAlgorithm { kOrigin, kMaskgitPlus, kTopkMargin, kEntropy, kP2 };

struct DreamOptions {
  std::int32_t max_new_tokens = 128;
  std::int32_t steps = 128;
  DreamAlgorithm algorithm = DreamAlgorithm::kOrigin;
  double temperature = 0;
  std::optional<double> top_p;
  std::optional<std::int64_t> top_k;
  double alg_temp = 0;
  double eps = 1e-3;
  std::int32_t mask_token = 0;
  // Open-dCoder, whose body carries a next-token model's name: all tokens are to see each other. It ends as
  // soon as nothing is masked.
  bool open_dcoder = false;
  bool forbid_mask = false;  // as a proposal; else a position for which it is proposed stays masked
  std::uint64_t seed = 0;
};

// What the options come to for this loop; `mask_token` must be known. UsageError for an algorithm there is
// none of.
DreamOptions dream_options(const DecodeOptions& options);
DreamOptions open_dcoder_options(const DecodeOptions& options);

// UsageError for values that make no sense together; the machine looks too.
void check_options(const DreamOptions& options);

// Times from 1 down to eps at which the steps happen, in float as the reference computes them.
std::vector<float> dream_schedule(std::int32_t steps, double eps);

// The publisher's diffusion_generate: a shrinking share of the masks is revealed at each step, anywhere
// in the row. The logits of position p come from row p - 1.
class DreamMachine final : public StepMachine {
 public:
  DreamMachine(std::span<const std::int32_t> prompt, const DreamOptions& options);

  bool finished() const override { return step_ == options_.steps || (options_.open_dcoder && full_); }
  std::optional<model::BlockGrid> row_grid() const override;
  std::vector<model::SequenceInput> next_forwards() override;
  StepRecord advance(std::span<const LogitRows> logits) override;
  std::optional<std::vector<ops::ChoiceRule>> choice_rules() const override;
  StepRecord advance_chosen(std::span<const ops::RowChoice> choices) override;
  StepRecord advance_edited(std::span<const Edit> edits) override;
  std::vector<std::int32_t> open_positions() const override { return masked_; }
  std::unique_ptr<StepMachine> clone() const override { return std::make_unique<DreamMachine>(*this); }

 private:
  struct Proposal {
    std::int32_t position;
    std::int32_t token;
    double confidence;
  };

  Proposal propose(std::span<const float> logits, std::int32_t position) const;
  float reveal_share() const;
  StepRecord settle(const std::function<Proposal(size_t masked)>& propose_at);
  StepRecord settle_p2(const std::function<Proposal(size_t place)>& propose_at);

  DreamOptions options_;
  std::vector<float> times_;
  std::vector<std::int32_t> free_;    // masks at the beginning
  std::vector<std::int32_t> masked_;  // positions that are proposed for; p2: all free ones
  bool full_ = false;                 // nothing is masked
  std::vector<std::int32_t> logit_rows_;
};

}  // namespace buoy::decode
