#pragma once

#include <optional>

#include "buoy/decode/block_schedule.h"
#include "buoy/decode/options.h"
#include "buoy/decode/step_machine.h"
#include "buoy/model/kv_cache.h"

namespace buoy::decode {

// Where the grid of blocks lies: from position 0, so that the first block may begin with the prompt's tail;
// or ending at the prompt's end, so that the prompt's own first block is the short one.
enum class GridOrigin { kZero, kPromptEnd };

// Which masks of the block get their token in a step.
enum class BlockOrder {
  kConfidence,  // the surest ones, as many as the schedule says
  kThreshold,   // all above the threshold, when there are as many as the schedule says; else the surest
  kLeftToRight,
  kRandom,
};

// Whether a block's first token is chosen by the row before it, when what precedes the block is stored.
enum class BlockSeed {
  kNone,     // it is a mask like the others
  kFollows,  // the likeliest token follows each stored block, the last one too; only whole blocks are decoded
  kBegins,   // each block begins with one, drawn by its probability; a stop token does not keep it from
             // beginning
};

// A stop token with no mask before it ends the run in the middle of a block.
enum class MidBlockStop {
  kNever,
  kWhenItStands,
  kWhenWritten,  // only in a step that wrote a stop token
};

// A written token of the block is written again where another one is surer than the threshold.
struct BlockEditing {
  double threshold = 0.9;             // strict
  std::int32_t most_post_steps = 16;  // steps of a block behind its last mask
  double repeat_penalty = 0;          // taken from the logit of the token that stands before the position
};

// How a token is proposed at a temperature above 0.
enum class BlockDraw {
  kNoise,         // Gumbel noise on the logits; the confidence is that of the clean ones
  kProportional,  // by the probability after temperature, top-k and top-p, which is the confidence, too
};

// One engine for the families that decode blocks; the fields are all in which they differ.
struct BlockOptions {
  std::int32_t max_new_tokens = 128;
  std::int32_t block_length = 32;
  std::int32_t sub_block_length = 32;  // parts of a block that are decoded from left to right
  GridOrigin origin = GridOrigin::kZero;
  // Row p - 1 of the logits is for position p. The row before a block is then that of the forward that stored
  // what precedes it.
  bool shifted_rows = false;
  // What precedes the blocks: in blocks too; causally, and stored so, finished blocks as well (the origin is
  // then that of each block); or the prompt as one block.
  ops::BeforeGrid before = ops::BeforeGrid::kBlocks;
  BlockSeed seed_rule = BlockSeed::kNone;
  bool stops_after_block = true;  // behind a block, where a stop token is among what was generated
  MidBlockStop mid_block_stop = MidBlockStop::kNever;
  std::optional<BlockEditing> editing;

  BlockOrder order = BlockOrder::kConfidence;
  double threshold = 1;
  bool threshold_itself = false;  // is sure enough
  BlockSchedule schedule = {};    // masks to fill in each step of a block
  BlockDraw draw = BlockDraw::kNoise;
  double temperature = 0, cfg_scale = 0;
  std::optional<std::int64_t> top_k;
  std::optional<double> top_p;

  std::int32_t mask_token = 0;  // never proposed
  std::vector<std::int32_t> stop_tokens;
  std::uint64_t seed = 0;

  // Keys and values of finished blocks are kept. False: everything is computed anew, the oracle of the cache.
  bool cached = true;
  // An approximation: while a sub-block's first position is known, only its rows are computed, over keys and
  // values of the rest of the block that may be stale.
  bool block_cache = false;
};

// UsageError for values that make no sense together; the machine looks too.
void check_options(const BlockOptions& options);

// The likeliest token, ties to the lower id, and its probability.
ops::RowChoice greedy_choice(std::span<const double> row);

// Blocks from left to right. A step is a denoising forward. Those that store a prompt or a finished block do
// not count as steps: they are forwards of their own, with records of their own kind, or, of a finished
// block, part of the pass of the next one's first step, without a record (store_apart()).
class BlockMachine final : public StepMachine {
 public:
  // `cache` is an empty one of the model.
  BlockMachine(std::span<const std::int32_t> prompt, const BlockOptions& options, model::KvCache cache);

  bool finished() const override { return phase_ == Phase::kFinished; }
  std::vector<model::SequenceInput> next_forwards() override;
  StepRecord advance(std::span<const LogitRows> logits) override;
  std::vector<std::int32_t> open_positions() const override { return candidates_; }
  std::optional<std::vector<ops::ChoiceRule>> choice_rules() const override;
  StepRecord advance_chosen(std::span<const ops::RowChoice> choices) override;
  // Rows of a sub-block alone, over keys that may be stale, are no forward of the row.
  void store_apart() override { stores_apart_ = true; }
  bool observable() const override {
    return !options_.block_cache && options_.before != ops::BeforeGrid::kWhole;
  }
  std::int32_t forward() const override { return forward_; }
  // That of the finished row: where finished blocks are stored causally, blocks of 1.
  std::optional<model::BlockGrid> grid() const override {
    if (options_.before == ops::BeforeGrid::kCausal) return model::BlockGrid{1};
    return model::BlockGrid{options_.block_length, origin_, options_.before};
  }
  std::optional<model::BlockGrid> denoised_grid() const override {
    return model::BlockGrid{options_.block_length, origin_, options_.before};
  }
  std::int64_t decoded_length() const override;
  // Once finished: at most as many as were asked for, up to and with the first stop token.
  std::span<const std::int32_t> generated() const override;

 private:
  enum class Phase { kStorePrompt, kDenoise, kStoreBlock, kFinished };

  std::int64_t kept() const { return options_.cached ? cache_.length() : 0; }
  // Whether a finished block can be stored in the pass of the next one's first step: nobody needs the logits
  // of its last row before.
  bool stores_on_the_way() const {
    return options_.cached && !stores_apart_ && !needs_row_before() && options_.cfg_scale == 0;
  }
  bool is_mask(std::int64_t position) const {
    return row_[static_cast<size_t>(position)] == options_.mask_token;
  }
  bool has_masks(std::int64_t begin, std::int64_t end) const;
  bool is_stop(std::int32_t token) const;
  bool stop_stands() const;
  bool seeds() const { return options_.seed_rule != BlockSeed::kNone; }
  bool seed_follows() const { return options_.seed_rule == BlockSeed::kFollows; }
  bool needs_row_before() const { return options_.shifted_rows || seeds(); }
  // Written by the loop itself, and not of the prompt.
  bool may_be_edited(std::int64_t position) const {
    return options_.editing && position >= prompt_length_ && !is_mask(position);
  }
  void extend_row(std::int64_t end);
  void begin_block();
  void end_block();
  void begin_sub_block();

  model::BlockGrid forward_grid() const;
  model::SequenceInput input(std::span<const std::int32_t> tokens, model::KvCache* cache) const;
  std::vector<model::SequenceInput> storing_forwards();
  std::vector<model::SequenceInput> denoising_forwards();
  std::span<const std::int32_t> row_between(std::int64_t begin, std::int64_t end) const;
  std::span<const std::int32_t> without_prompt(std::int64_t begin, std::int64_t end);
  // Logits of wanted row i under guidance, the mask forbidden.
  std::vector<double> row_of(std::span<const LogitRows> logits, size_t i) const;
  // The draw of a proposal at a temperature above 0.
  DrawAddress draw_address(BlockDraw draw, std::int32_t position) const;
  ops::RowChoice propose(std::vector<double> row, BlockDraw draw, std::int32_t position) const;
  ops::RowChoice propose_seed() const;
  // Goes on with what is proposed for the wanted rows of the forward.
  StepRecord settle(std::span<const ops::RowChoice> proposals);
  std::vector<size_t> choose(std::span<const ops::RowChoice> proposals) const;
  std::vector<size_t> choose_edits(std::span<const ops::RowChoice> proposals) const;
  void end_step(bool masks_were_there, bool stop_written, size_t edits);

  BlockOptions options_;
  model::KvCache cache_, unconditional_cache_;
  std::optional<model::KvCache> block_cache_;  // the finished blocks and the current one
  Phase phase_ = Phase::kStorePrompt;
  bool stores_apart_ = false;
  bool stores_now_ = false;  // the step to come stores the finished block, too
  std::int64_t origin_ = 0;
  std::int64_t begin_ = 0, end_ = 0;  // of the block
  std::int64_t sub_begin_ = 0, sub_end_ = 0;
  std::int64_t last_end_ = 0;  // where the last block ends
  std::vector<std::int64_t> counts_;
  size_t step_in_block_ = 0;
  std::int32_t post_steps_ = 0;              // behind the block's last mask
  std::int32_t forward_ = 0;                 // those that store are counted, too
  std::vector<std::int32_t> candidates_;     // masks of the sub-block, and what may be edited
  std::vector<std::int32_t> logit_rows_;     // of the forward
  std::vector<std::int32_t> unconditional_;  // the row with the prompt masked
  std::vector<double> row_before_;           // logits of the row before the block
};

}  // namespace buoy::decode
