// Rules of block decoding and of loops by entropy, on made-up logits: editing, seeds, what stays masked.

#include <gtest/gtest.h>

#include "buoy/decode/block_families.h"
#include "buoy/decode/dream.h"
#include "buoy/decode/rnd1.h"
#include "decode/fake_logits.h"

namespace buoy::decode {
namespace {

using namespace testing;

model::KvCache empty_cache() {
  return model::KvCache(1, 1);
}

DecodeOptions with_rule(const char* rule, std::int32_t tokens) {
  DecodeOptions o;
  o.decoding_rule = rule;
  o.max_new_tokens = tokens;
  o.mask_token = kMask;
  o.block_length = 4;
  return o;
}

ModelConfig config_of(Family family) {
  ModelConfig config;
  config.family = family;
  config.vocabulary = kVocabulary;
  return config;
}

// Token 3 everywhere, with 10; another one with 9.
std::vector<float> mostly_three(std::int32_t second) {
  std::vector<float> logits(kVocabulary, 0.0f);
  logits[3] = 10;
  logits[static_cast<size_t>(second)] = 9;
  return logits;
}

BlockMachine editing_machine(const DecodeOptions& o) {
  return BlockMachine(Ids{1, 1, 1, 1}, block_options(config_of(Family::kLlada2), o), empty_cache());
}

Ids block_of(const StepMachine& machine) {
  return {machine.row().begin() + 4, machine.row().end()};
}

// What forward number n proposes for row 5 differs from the rest from the second on.
TEST(BlockEditing, ATokenIsReplacedUntilAForwardChangesNothing) {
  DecodeOptions o = with_rule("llada21", 4);
  o.threshold = o.editing_threshold = 0.5;
  for (const bool cached : {true, false}) {
    auto options = block_options(config_of(Family::kLlada2), o);
    options.cached = cached;
    BlockMachine machine(Ids{1, 1, 1, 1}, options, empty_cache());
    int forward = 0;
    const FakeModel model = [&](std::int32_t row) {
      std::vector<float> logits(kVocabulary, 0.0f);
      logits[forward > 0 && row == 5 ? 6 : 3] = 20;
      return logits;
    };
    std::vector<Ids> revealed;
    if (cached) step(machine, model);  // the prompt
    while (!machine.finished()) {
      revealed.push_back(revealed_positions(step(machine, model).record));
      ++forward;
    }
    EXPECT_EQ(revealed, (std::vector<Ids>{{4, 5, 6, 7}, {5}, {}}));
    EXPECT_EQ(block_of(machine), (Ids{3, 6, 3, 3}));
    EXPECT_EQ(machine.revealed_at()[5], 1);
    EXPECT_EQ(machine.step(), 3);
  }
}

TEST(BlockEditing, EndsBehindTheLastPostStepOrWhereNothingIsSureEnough) {
  int forward = 0;
  // Every forward proposes another token.
  const FakeModel restless = [&](std::int32_t) {
    std::vector<float> logits(kVocabulary, 0.0f);
    logits[static_cast<size_t>(3 + forward)] = 20;
    return logits;
  };
  const auto steps_with = [&](const DecodeOptions& o) {
    auto machine = editing_machine(o);
    forward = 0;
    while (!machine.finished()) step(machine, restless), ++forward;
    return machine.step();
  };
  DecodeOptions o = with_rule("llada21", 4);
  o.max_post_steps = 0;
  EXPECT_EQ(steps_with(o), 1);
  o.max_post_steps = 2;
  EXPECT_EQ(steps_with(o), 3);
  o.max_post_steps.reset();
  EXPECT_EQ(steps_with(o), 17) << "16 by default";
  o.editing_threshold = 1;  // strict
  EXPECT_EQ(steps_with(o), 2);
}

TEST(BlockEditing, MasksAreFilledAsManyAsAskedForAndPromptTokensStay) {
  DecodeOptions o = with_rule("llada21", 3);
  o.threshold = 1;
  o.editing_threshold = 0.5;
  o.num_to_transfer = 2;
  BlockMachine machine(Ids{1, 1, 1, 1, 1}, block_options(config_of(Family::kLlada2), o), empty_cache());
  const auto steps = run_to_the_end(machine, [](std::int32_t) { return mostly_three(4); });
  EXPECT_EQ(reveal_counts(steps), (std::vector<size_t>{0, 2, 1, 0}));
  EXPECT_EQ(machine.row(), (Ids{1, 1, 1, 1, 1, 3, 3, 3}));
}

TEST(BlockEditing, ThePenaltyIsOnTheTokenBefore) {
  DecodeOptions o = with_rule("llada21", 4);
  o.threshold = o.editing_threshold = 0.5;
  o.repeat_penalty = 2;
  auto machine = editing_machine(o);
  std::vector<Ids> rows;
  for (const auto& taken : run_to_the_end(machine, [](std::int32_t) { return mostly_three(4); }))
    rows.push_back(taken.tokens[0]);
  EXPECT_EQ(rows[2], (Ids{3, 3, 3, 3}));
  EXPECT_EQ(rows[3], (Ids{3, 4, 4, 4}));
  EXPECT_EQ(rows[4], (Ids{3, 4, 3, 3}));
  EXPECT_EQ(block_of(machine), (Ids{3, 4, 3, 4}));
  EXPECT_FALSE(machine.choice_rules()) << "the penalty is on logits";
}

// By default what stands behind an end token is decoded, and cut off.
TEST(BlockEditing, StopsOnlyWhereAsked) {
  DecodeOptions o = with_rule("llada21", 8);
  o.eos_tokens = {3};
  auto machine = editing_machine(o);
  run_to_the_end(machine, [](std::int32_t) { return mostly_three(4); });
  EXPECT_EQ(std::ssize(machine.row()), 12);
  EXPECT_EQ(std::count(machine.row().begin(), machine.row().end(), kMask), 0);
  EXPECT_EQ(generated_of(machine), Ids{3});
  o.eos_early_stop = true;
  auto early = editing_machine(o);
  run_to_the_end(early, [](std::int32_t) { return mostly_three(4); });
  EXPECT_EQ(std::count(early.row().begin(), early.row().end(), kMask), 4);
  EXPECT_EQ(generated_of(early), Ids{3});
}

TEST(BlockSeeds, EveryBlockBeginsWithATokenOfTheCausalForwardBeforeIt) {
  DecodeOptions o = with_rule("diffusion", 8);
  BlockMachine machine(Ids{1, 2, 3}, block_options(config_of(Family::kNemotron), o), empty_cache());
  std::vector<StepKind> kinds;
  while (!machine.finished()) {
    const auto forwards = machine.next_forwards();
    const auto grid = forwards[0].grid.value();
    const auto first = forwards[0].past();
    const auto taken = step(machine, row_number_model());
    kinds.push_back(taken.record.kind);
    if (taken.record.kind == StepKind::kDenoise) {
      EXPECT_EQ(grid.block, 4);
      EXPECT_EQ(grid.origin, first);
      EXPECT_EQ(grid.before, ops::BeforeGrid::kCausal);
      EXPECT_NE(taken.tokens[0][0], kMask) << "known before";
    } else {
      EXPECT_EQ(grid.block, 1);
      ASSERT_EQ(taken.record.reveals.size(), 1u);
      EXPECT_EQ(taken.record.reveals[0].position, first + std::ssize(taken.tokens[0]));
      EXPECT_EQ(taken.record.reveals[0].token, taken.record.reveals[0].position - 1) << "of the row before";
    }
  }
  using enum StepKind;
  EXPECT_EQ(kinds,
            (std::vector{kPrefill, kDenoise, kDenoise, kDenoise, kFinish, kDenoise, kDenoise, kDenoise}));
  EXPECT_EQ(machine.grid()->block, 1) << "the finished row is causal";
  EXPECT_EQ(generated_of(machine), (Ids{2, 4, 5, 6, 6, 8, 9, 10}));
}

TEST(BlockSeeds, ABidirectionalContextHasNone) {
  DecodeOptions o = with_rule("diffusion", 8);
  o.bidirectional_context = true;
  const auto options = block_options(config_of(Family::kNemotron), o);
  BlockMachine machine(Ids{1, 2, 3}, options, empty_cache()), apart(Ids{1, 2, 3}, options, empty_cache());
  apart.store_apart();
  const auto steps = run_to_the_end(machine, row_number_model());
  EXPECT_EQ(reveal_counts(steps), (std::vector<size_t>{0, 1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(reveal_counts(run_to_the_end(apart, row_number_model())),
            (std::vector<size_t>{0, 1, 1, 1, 1, 0, 1, 1, 1, 1}));
  EXPECT_EQ(generated_of(machine), generated_of(apart));
  EXPECT_EQ(machine.grid()->before, ops::BeforeGrid::kWhole);
  EXPECT_EQ(machine.grid()->origin, 3);
  EXPECT_FALSE(machine.observable());
}

Rnd1Options rnd1_of(std::int32_t tokens, std::int32_t steps) {
  DecodeOptions o;
  o.max_new_tokens = tokens;
  o.steps = steps;
  o.mask_token = kMask;
  return rnd1_options(o);
}

TEST(Rnd1, PositionsOfTheHighestEntropyStayMasked) {
  Rnd1Machine machine(Ids{1, 2}, rnd1_of(10, 4));
  const auto steps = run_to_the_end(machine, row_number_model());
  EXPECT_EQ(reveal_counts(steps), (std::vector<size_t>{3, 2, 3, 2}));
  EXPECT_EQ(revealed_positions(steps[0].record), (Ids{9, 10, 11})) << "later rows are surer";
  EXPECT_EQ(generated_of(machine), (Ids{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})) << "row p - 1 is for position p";
}

TEST(Rnd1, MoreStepsThanMasksEndWithTheLastMask) {
  Rnd1Machine machine(Ids{1, 2}, rnd1_of(3, 8));
  run_to_the_end(machine, row_number_model());
  EXPECT_EQ(std::count(machine.row().begin(), machine.row().end(), kMask), 0);
  EXPECT_LT(machine.step(), 8);
}

TEST(Rnd1, ABoundReplacesTheNumberOfPositions) {
  auto options = rnd1_of(6, 4);
  options.entropy_bound = 0;  // the surest alone
  Rnd1Machine one(Ids{1, 2}, options);
  EXPECT_EQ(reveal_counts(run_to_the_end(one, row_number_model())), (std::vector<size_t>{1, 1, 1, 3}));
  options.entropy_bound = 1e9;
  Rnd1Machine all(Ids{1, 2}, options);
  EXPECT_EQ(reveal_counts(run_to_the_end(all, row_number_model())), (std::vector<size_t>{6}));
}

TEST(OpenDcoder, P2HidesWhatIsNotAmongTheSurest) {
  DecodeOptions o;
  o.decoding_rule = "open_dcoder";
  o.max_new_tokens = 10;
  o.steps = 4;
  o.mask_token = kMask;
  o.algorithm = "p2";
  DreamMachine machine(Ids{1, 2}, open_dcoder_options(o));
  EXPECT_EQ(machine.row_grid()->block, model::BlockGrid(machine.next_forwards()[0].grid.value()).block);
  // The surest rows change from step to step.
  std::int32_t forward = 0;
  std::vector<std::ptrdiff_t> masks;
  size_t hidden = 0;
  while (!machine.finished()) {
    const auto taken = step(machine, [&](std::int32_t row) {
      auto logits = row_number_model()(forward % 2 == 0 ? row : 30 - row);
      return logits;
    });
    hidden += taken.record.hidden_again.size();
    for (const auto position : taken.record.hidden_again) {
      EXPECT_EQ(machine.row()[static_cast<size_t>(position)], kMask);
      EXPECT_EQ(machine.revealed_at()[static_cast<size_t>(position)], -1);
    }
    masks.push_back(std::count(machine.row().begin(), machine.row().end(), kMask));
    ++forward;
  }
  EXPECT_EQ(masks, (std::vector<std::ptrdiff_t>{7, 5, 2, 0}));
  EXPECT_GT(hidden, 0u);
}

}  // namespace
}  // namespace buoy::decode
