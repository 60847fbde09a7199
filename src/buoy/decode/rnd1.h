#pragma once

#include <optional>

#include "buoy/decode/options.h"
#include "buoy/decode/step_machine.h"

namespace buoy::decode {

struct Rnd1Options {
  std::int32_t max_new_tokens = 128;
  std::int32_t steps = 128;
  double temperature = 0;          // 0: the likeliest token
  double entropy_temperature = 1;  // of the distribution whose entropy orders the positions
  std::optional<std::int64_t> top_k;
  std::optional<double> top_p;
  std::optional<double> entropy_bound;  // instead of a number of positions in each step
  std::int32_t mask_token = 0;          // never proposed
  std::uint64_t seed = 0;
};

// What the options come to for this loop; `mask_token` must be known. UsageError for an entropy temperature
// beside a temperature, which is that of the entropies, too.
Rnd1Options rnd1_options(const DecodeOptions& options);

// UsageError for values that make no sense together; the machine looks too.
void check_options(const Rnd1Options& options);

// RND1's sampler: of N masks, floor(N s / T) stay masked behind the step that is s steps before the last,
// those of the highest entropy. With a bound, those are revealed, surest first, whose entropies add up to no
// more than the bound beside the largest of them; the last step reveals what is left. The logits of position
// p come from row p - 1.
class Rnd1Machine final : public StepMachine {
 public:
  Rnd1Machine(std::span<const std::int32_t> prompt, const Rnd1Options& options);

  bool finished() const override { return step_ == options_.steps || !has_masks_; }
  std::vector<model::SequenceInput> next_forwards() override;
  StepRecord advance(std::span<const LogitRows> logits) override;
  std::vector<std::int32_t> open_positions() const override { return masked_; }
  std::unique_ptr<StepMachine> clone() const override { return std::make_unique<Rnd1Machine>(*this); }

 private:
  struct Proposal {
    std::int32_t token;
    double entropy, probability;  // of the tempered, filtered distribution
  };

  Proposal propose(std::span<const float> logits, std::int32_t position) const;
  std::vector<std::int32_t> within_bound(const std::vector<Proposal>& proposals) const;

  Rnd1Options options_;
  std::int64_t masks_at_start_ = 0;
  bool has_masks_ = true;
  std::vector<std::int32_t> masked_, logit_rows_;
};

}  // namespace buoy::decode
