#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "buoy/model/model.h"
#include "buoy/ops/sampling/choice.h"

namespace buoy::decode {

// One position that got its token in a step.
struct Reveal {
  std::int32_t position;  // in the whole row, prompt included
  std::int32_t token;
  double confidence;  // what the position was chosen by; the token's probability when it was not chosen
};

// What the forward of a record was for: a loop with a cache of finished text also runs that text once more,
// to store it.
enum class StepKind { kDenoise, kPrefill, kFinish };

struct StepRecord {
  std::int32_t step = 0;   // counts forwards from 0
  std::int32_t steps = 0;  // how many there will be at most
  std::vector<Reveal> reveals;
  StepKind kind = StepKind::kDenoise;
  std::vector<std::int32_t> hidden_again = {};  // positions whose token was taken back: masks again
};

// What somebody else than the loop's own rule writes in a step. A mask instead of a token takes one back.
inline constexpr std::int32_t kMaskAgain = -1;
struct Edit {
  std::int32_t position;  // in the whole row; behind its end: an autoregressive row grows
  std::int32_t token;     // or kMaskAgain
  double confidence = 0;  // for the record
};

// The logits of one forward: row i belongs to entry i of the forward's logit_rows.
struct LogitRows {
  const float* data;
  std::int64_t vocabulary;

  std::span<const float> row(size_t i) const {
    return {data + static_cast<std::int64_t>(i) * vocabulary, static_cast<size_t>(vocabulary)};
  }
};

// A decoding loop turned inside out: it says what to run, is given the logits, and moves one step. So any
// number of sequences can share one packed forward, and whoever drives the loop can watch every step.
class StepMachine {
 public:
  StepMachine(std::span<const std::int32_t> prompt, std::int32_t generated_slots);
  virtual ~StepMachine() = default;
  StepMachine& operator=(const StepMachine&) = delete;

  virtual bool finished() const = 0;
  // The forwards of the next step: one, or two under guidance, or one behind the forward that stores what is
  // finished. Spans stay valid until advance().
  virtual std::vector<model::SequenceInput> next_forwards() = 0;
  // Takes the logits of those forwards, in order.
  virtual StepRecord advance(std::span<const LogitRows> logits) = 0;

  // How each wanted row of the one forward may be chosen from where the logits lie (on a device), in order.
  // Nothing when only the logits themselves will do: under guidance, filters or penalties. A machine that
  // always wants the logits leaves both as they are.
  virtual std::optional<std::vector<ops::ChoiceRule>> choice_rules() const { return std::nullopt; }
  // Takes what was chosen by those rules in place of the logits.
  virtual StepRecord advance_chosen(std::span<const ops::RowChoice> choices);

  // A step chosen by hand: the same forwards, but these edits in place of the rule. UsageError for what
  // cannot be edited: positions of the prompt or outside of the row, tokens where none can stand.
  virtual StepRecord advance_edited(std::span<const Edit> edits);
  // Positions that the wanted rows of the forwards under way are for, in order.
  virtual std::vector<std::int32_t> open_positions() const { return {}; }
  // Whether a probe may look at its forwards.
  virtual bool observable() const { return true; }
  // From now on what is finished is stored by a forward of its own, as who watches forwards wants it. Before
  // that it may share a pass with the first step behind it.
  virtual void store_apart() {}
  // The number of the forward to come, by which observers know it. A loop may have forwards that are no
  // steps.
  virtual std::int32_t forward() const { return step_; }
  // Where its blocks lie; none: the mask of the model.
  virtual std::optional<model::BlockGrid> grid() const { return std::nullopt; }
  // Where the blocks lie that it denoises, though a finished row may be seen in another way.
  virtual std::optional<model::BlockGrid> denoised_grid() const { return grid(); }
  // That of a forward over the whole row, where the model's own mask would not do.
  virtual std::optional<model::BlockGrid> row_grid() const { return grid(); }
  // Positions of the row that were decoded, with the prompt: behind them masks are left over.
  virtual std::int64_t decoded_length() const { return std::ssize(row_); }
  // Another one in the same state, between two steps: it may go another way. Null where there can be none.
  virtual std::unique_ptr<StepMachine> clone() const { return nullptr; }

  // The whole row: prompt, then generated positions (masks where nothing was revealed yet).
  const std::vector<std::int32_t>& row() const { return row_; }
  std::int32_t prompt_length() const { return prompt_length_; }
  // What is behind the prompt; of a loop whose row may be longer than the answer, the answer.
  virtual std::span<const std::int32_t> generated() const {
    return std::span(row_).subspan(static_cast<size_t>(prompt_length_));
  }
  std::int32_t step() const { return step_; }  // the one to come
  // For each position of the row: the step that revealed it, -1 for a prompt token or a position never
  // revealed.
  const std::vector<std::int32_t>& revealed_at() const { return revealed_at_; }

 protected:
  StepMachine(const StepMachine&) = default;  // for clone()

  // advance_edited() of a row that has all its positions from the beginning.
  StepRecord edit_masked_row(std::span<const Edit> edits, std::int32_t mask_token, std::int32_t steps);
  void reveal(StepRecord& record, std::int32_t position, std::int32_t token, double confidence);
  void hide(StepRecord& record, std::int32_t position, std::int32_t mask_token);

  std::vector<std::int32_t> row_;
  std::vector<std::int32_t> revealed_at_;
  std::int32_t prompt_length_;
  std::int32_t step_ = 0;
};

// The `count` positions with the largest score, ties to the lower position; fewer when there are fewer.
struct Scored {
  std::int32_t position;
  double score;
};
std::vector<std::int32_t> highest(std::vector<Scored> candidates, std::int64_t count);

}  // namespace buoy::decode
