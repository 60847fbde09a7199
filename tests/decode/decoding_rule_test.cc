// Which loop a family and its options come to, where the config does not say; what is refused.

#include "buoy/decode/decoding_rule.h"

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "buoy/decode/block_families.h"
#include "buoy/decode/rnd1.h"
#include "support/fails_with.h"

namespace buoy::decode {
namespace {

using testing::fails_with;

ModelConfig config_of(Family family) {
  ModelConfig config;
  config.family = family;
  config.vocabulary = 200;
  return config;
}

DecodeOptions ruled(const char* rule) {
  DecodeOptions o;
  o.decoding_rule = rule;
  o.mask_token = 100;
  return o;
}

TEST(DecodingRule, WhatEachFamilyDecodesWith) {
  EXPECT_EQ(loop_of(config_of(Family::kNemotron), {}), kNemotron) << "by default";
  EXPECT_EQ(loop_of(config_of(Family::kNemotron), ruled("autoregressive")), kAutoregressive);
  EXPECT_EQ(loop_of(config_of(Family::kQwen2), {}), kAutoregressive) << "by default";
  EXPECT_EQ(loop_of(config_of(Family::kQwen2), ruled("open_dcoder")), kOpenDcoder);
  EXPECT_EQ(loop_of(config_of(Family::kLlada2), ruled("llada2")), kLlada2);
  EXPECT_EQ(loop_of(config_of(Family::kLlada2), ruled("llada21")), kLlada21);
  EXPECT_EQ(loop_of(config_of(Family::kA2dQwen3), ruled("bd3lm")), kBd3lm);
  EXPECT_EQ(loop_of(config_of(Family::kRnd1), {}), kRnd1);
  EXPECT_EQ(default_rule(Family::kNemotron), "diffusion");
  EXPECT_EQ(default_rule(Family::kLlada2), std::nullopt);
}

TEST(DecodingRule, WhatALoopReadsTheModelAs) {
  const auto nemotron = config_of(Family::kNemotron), qwen = config_of(Family::kQwen2);
  EXPECT_TRUE(decodes_masks(nemotron, {}) && decodes_blocks(nemotron, {}));
  const auto next_token = ruled("autoregressive");
  EXPECT_FALSE(decodes_masks(nemotron, next_token) || decodes_blocks(nemotron, next_token));
  EXPECT_EQ(mask_of(nemotron, next_token), AttentionMaskKind::kCausal);
  EXPECT_EQ(prediction_offset(nemotron, next_token), 1);
  EXPECT_EQ(prediction_offset(nemotron, {}), 0);
  EXPECT_FALSE(decodes_masks(qwen, {}));
  EXPECT_EQ(mask_of(qwen, {}), AttentionMaskKind::kCausal);
  EXPECT_TRUE(decodes_masks(qwen, ruled("open_dcoder")));
  EXPECT_FALSE(decodes_blocks(qwen, ruled("open_dcoder")));
  EXPECT_EQ(mask_of(qwen, ruled("open_dcoder")), AttentionMaskKind::kFull);
  EXPECT_EQ(prediction_offset(qwen, ruled("open_dcoder")), 1);
}

TEST(DecodingRule, MissingOrOfAnotherFamilyItIsRefused) {
  EXPECT_TRUE(fails_with<UsageError>([] { loop_of(config_of(Family::kLlada2), {}); },
                                     {"`decoding_rule`", "expected llada2 or llada21", "found none"}));
  EXPECT_TRUE(fails_with<UsageError>([] { loop_of(config_of(Family::kLlada2), ruled("bd3lm")); },
                                     {"`decoding_rule`", "llada2 or llada21", "found \"bd3lm\""}));
  EXPECT_TRUE(fails_with<UsageError>([] { loop_of(config_of(Family::kNemotron), ruled("llada2")); },
                                     {"`decoding_rule`", "diffusion or autoregressive", "found \"llada2\""}));
  EXPECT_TRUE(fails_with<UsageError>([] { loop_of(config_of(Family::kQwen2), ruled("mdlm")); },
                                     {"`decoding_rule`", "autoregressive or open_dcoder", "found \"mdlm\""}));
  EXPECT_TRUE(fails_with<UsageError>([] { check_options(config_of(Family::kLlama), ruled("diffusion")); },
                                     {"`decoding_rule`", "LLaDA2", "found Llama"}));
}

TEST(DecodingRule, ARuleOfAnotherModelIsLeftOutWhereModelsAreCompared) {
  EXPECT_EQ(fitting(Family::kQwen2, ruled("mdlm")).decoding_rule, std::nullopt);
  EXPECT_EQ(fitting(Family::kNemotron, ruled("autoregressive")).decoding_rule, "autoregressive");
  EXPECT_EQ(fitting(Family::kNemotron, ruled("autoregressive")).mask_token, std::nullopt) << "no mask there";
  EXPECT_EQ(fitting(Family::kNemotron, ruled("diffusion")).mask_token, 100);
}

TEST(DecodingRule, OptionsOfTheOtherRuleAreRefused) {
  auto o = ruled("llada2");
  o.editing_threshold = 0.9;
  EXPECT_TRUE(fails_with<UsageError>([&] { check_options(config_of(Family::kLlada2), o); },
                                     {"`editing_threshold`", "LLaDA2 with the rule llada21"}));
  o = ruled("llada21");
  o.minimal_topk = 2;
  EXPECT_TRUE(
      fails_with<UsageError>([&] { check_options(config_of(Family::kLlada2), o); }, {"`minimal_topk`"}));
  o = ruled("autoregressive");
  o.mask_token.reset();
  o.threshold = 0.9;
  EXPECT_TRUE(
      fails_with<UsageError>([&] { check_options(config_of(Family::kNemotron), o); }, {"`threshold`"}));
  o = {};
  o.algorithm = "entropy";
  EXPECT_TRUE(fails_with<UsageError>([&] { check_options(config_of(Family::kQwen2), o); }, {"`algorithm`"}));
}

TEST(DecodingRule, ValuesThatDoNotFitEachOther) {
  auto o = ruled("llada2");
  o.max_new_tokens = 8;
  o.minimal_topk = 9;
  EXPECT_TRUE(fails_with<UsageError>([&] { block_options(config_of(Family::kLlada2), o); },
                                     {"`minimal_topk`", "expected at most `max_new_tokens` (8)", "found 9"}));
  o = ruled("diffusion");
  o.threshold = 0.9;
  o.steps_per_block = 5;
  EXPECT_TRUE(fails_with<UsageError>([&] { block_options(config_of(Family::kNemotron), o); },
                                     {"`steps_per_block`", "expected 32", "beside a threshold", "found 5"}));
  o = {};
  o.mask_token = 100;
  o.temperature = 0.5;
  o.entropy_temperature = 0.7;
  EXPECT_TRUE(fails_with<UsageError>([&] { rnd1_options(o); },
                                     {"`entropy_temperature`", "none beside a temperature"}));
  o = ruled("llada21");
  o.threshold = -1;
  EXPECT_TRUE(fails_with<UsageError>([&] { check_options(config_of(Family::kLlada2), o); }, {"`threshold`"}));
}

TEST(DecodingRule, DefaultsOfTheLoops) {
  const auto llada2 = block_options(config_of(Family::kLlada2), ruled("llada2"));
  EXPECT_EQ(llada2.threshold, 0.95);
  EXPECT_EQ(llada2.block_length, 32);
  EXPECT_EQ(llada2.schedule.steps, 32);
  EXPECT_TRUE(llada2.stops_after_block);
  EXPECT_EQ(llada2.mid_block_stop, MidBlockStop::kNever);
  EXPECT_FALSE(llada2.editing);
  const auto llada21 = block_options(config_of(Family::kLlada2), ruled("llada21"));
  EXPECT_EQ(llada21.threshold, 0.95);
  ASSERT_TRUE(llada21.editing);
  EXPECT_EQ(llada21.editing->threshold, 0.9);
  EXPECT_EQ(llada21.editing->most_post_steps, 16);
  EXPECT_EQ(llada21.editing->repeat_penalty, 0);
  EXPECT_EQ(llada21.schedule.least, 1);
  EXPECT_FALSE(llada21.stops_after_block);
  const auto nemotron = block_options(config_of(Family::kNemotron), ruled("diffusion"));
  EXPECT_EQ(nemotron.order, BlockOrder::kConfidence);
  EXPECT_EQ(nemotron.schedule.steps, 32);
  EXPECT_EQ(nemotron.before, ops::BeforeGrid::kCausal);
  auto o = ruled("diffusion");
  o.threshold = 0.9;
  EXPECT_TRUE(block_options(config_of(Family::kNemotron), o).threshold_itself) << "as sure is enough";
}

}  // namespace
}  // namespace buoy::decode
