// Block decoding on the GPU: what is chosen there is what the loop chooses from the same logits.

#include <gtest/gtest.h>

#include <cmath>

#include "buoy/decode/block.h"
#include "buoy/decode/turn.h"
#include "support/family_case.h"
#include "support/gpu.h"

namespace buoy {
namespace {

using decode::BlockDraw;
using decode::BlockMachine;
using decode::BlockOptions;
using decode::BlockOrder;

struct Loop {
  const char* name;
  const char* checkpoint;
  BlockOptions options;
};

void PrintTo(const Loop& loop, std::ostream* out) {
  *out << loop.name;
}

std::vector<Loop> loops() {
  const auto with = [](BlockOptions options, auto change) {
    change(options);
    return options;
  };
  const auto sized = [](std::int32_t tokens, std::int32_t block, std::int32_t sub_block) {
    BlockOptions options;
    options.max_new_tokens = tokens;
    options.block_length = block;
    options.sub_block_length = sub_block;
    options.mask_token = 75;
    return options;
  };
  BlockOptions sdar = sized(24, 4, 4);
  sdar.draw = BlockDraw::kProportional;
  sdar.schedule.steps = 4;
  sdar.schedule.over_whole_block = true;
  sdar.stop_tokens = {1};
  BlockOptions bd3lm = sized(24, 8, 8);
  bd3lm.origin = decode::GridOrigin::kPromptEnd;
  bd3lm.schedule.steps = 3;
  BlockOptions fast = sized(32, 8, 4);
  fast.draw = BlockDraw::kProportional;
  fast.shifted_rows = true;
  fast.seed_rule = decode::BlockSeed::kFollows;
  fast.stops_after_block = false;
  fast.mid_block_stop = decode::MidBlockStop::kWhenItStands;
  fast.order = BlockOrder::kThreshold;
  fast.threshold = 0.5;
  fast.schedule.rule = decode::BlockSchedule::Rule::kAtLeast;
  return {
      {"sdar", "sdar-f32", sdar},
      {"sdar_threshold", "sdar-f32",
       with(sdar, [](auto& o) { o.order = BlockOrder::kThreshold, o.threshold = 0.2, o.stop_tokens = {}; })},
      {"sdar_drawn", "sdar-f32", with(sdar, [](auto& o) { o.temperature = 0.7, o.seed = 5; })},
      {"bd3lm", "a2d-qwen3-f32", bd3lm},
      {"bd3lm_noise", "a2d-qwen3-f32", with(bd3lm, [](auto& o) { o.temperature = 0.7, o.seed = 5; })},
      {"bd3lm_random_order", "a2d-qwen3-bf16", with(bd3lm, [](auto& o) { o.order = BlockOrder::kRandom; })},
      {"fast_dllm", "fast-dllm-v2-f32", fast},
      {"fast_dllm_drawn", "fast-dllm-v2-f32", with(fast, [](auto& o) { o.temperature = 0.7, o.seed = 5; })},
      {"fast_dllm_block_cache", "fast-dllm-v2-f32", with(fast, [](auto& o) { o.block_cache = true; })}};
}

class BlockCuda : public ::testing::TestWithParam<Loop> {
 protected:
  void SetUp() override { BUOY_NEEDS_GPU(); }
};

TEST_P(BlockCuda, ChoicesAreThoseOfTheLogits) {
  ThreadPool threads(2);
  const Context context{threads};
  model::Model model = model::Model::load(testing::family_folder(GetParam().checkpoint), Device::kCuda);
  const std::vector<std::int32_t> prompt = {7, 12, 3, 55, 41, 9, 30, 21, 66, 2, 17};
  BlockMachine by_logits(prompt, GetParam().options, model.new_cache()),
      by_choices(prompt, GetParam().options, model.new_cache());
  size_t chosen_there = 0;
  while (!by_logits.finished()) {
    const auto inputs = by_logits.next_forwards();
    // Where a finished block is stored on the way, none of its logits are wanted.
    for (size_t n = 0; n + 1 < inputs.size(); ++n) ASSERT_TRUE(inputs[n].logit_rows.empty());
    const decode::LogitRows logits{model.forward(context, inputs), model.config().vocabulary};
    const auto expected = by_logits.advance(std::vector<decode::LogitRows>(inputs.size(), logits));
    const decode::Turn turn = decode::next_turn(by_choices, 0);
    const auto rules = by_choices.choice_rules();
    ASSERT_TRUE(rules.has_value());
    chosen_there += rules->size();
    const auto found = decode::take_turns(context, model, std::span(&turn, 1), nullptr)[0];
    EXPECT_EQ(found.kind, expected.kind);
    ASSERT_EQ(found.reveals.size(), expected.reveals.size());
    for (size_t i = 0; i < expected.reveals.size(); ++i) {
      EXPECT_EQ(found.reveals[i].position, expected.reveals[i].position);
      EXPECT_EQ(found.reveals[i].token, expected.reveals[i].token);
      EXPECT_NEAR(found.reveals[i].confidence, expected.reveals[i].confidence,
                  2e-6 * (1 + std::abs(expected.reveals[i].confidence)));
    }
  }
  EXPECT_TRUE(by_choices.finished());
  EXPECT_EQ(by_choices.row(), by_logits.row());
  EXPECT_GT(chosen_there, 10u);
}

INSTANTIATE_TEST_SUITE_P(Loops, BlockCuda, ::testing::ValuesIn(loops()),
                         [](const auto& test) { return std::string(test.param.name); });

// Guidance, filters and rows that serve a later step need the logits themselves.
TEST(BlockChoices, AreLeftToTheLogitsWhereRulesDoNotReach) {
  const model::Model model = model::Model::load(testing::family_folder("a2d-qwen3-f32"));
  const std::vector<std::int32_t> prompt = {7, 12, 3};
  const auto rules = [&](auto change) {
    BlockOptions options;
    options.max_new_tokens = 8;
    options.block_length = options.sub_block_length = 4;
    options.mask_token = 75;
    options.schedule.steps = 2;
    change(options);
    BlockMachine machine(prompt, options, model.new_cache());
    machine.next_forwards();
    return machine.choice_rules();
  };
  const auto plain = rules([](BlockOptions&) {});
  ASSERT_TRUE(plain.has_value());
  for (const auto& rule : *plain) EXPECT_EQ(rule.forbidden, 75);
  EXPECT_FALSE(rules([](BlockOptions& o) { o.cfg_scale = 1; }).has_value());
  EXPECT_FALSE(rules([](BlockOptions& o) { o.shifted_rows = true; }).has_value());
  const auto drawn = [](BlockOptions& o) { o.temperature = 1, o.draw = BlockDraw::kProportional; };
  EXPECT_TRUE(rules(drawn).has_value());
  EXPECT_FALSE(rules([&](BlockOptions& o) { drawn(o), o.top_k = 5; }).has_value());
  EXPECT_FALSE(rules([&](BlockOptions& o) { drawn(o), o.top_p = 0.9; }).has_value());
  EXPECT_TRUE(rules([&](BlockOptions& o) { o.top_p = 0.9; }).has_value()) << "greedy is not filtered";
}

}  // namespace
}  // namespace buoy
