// What a run refuses of models that decode blocks, before any forward, and what it takes.

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "buoy/run/decoding.h"
#include "buoy/run/loaded_model.h"
#include "support/fails_with.h"
#include "support/family_case.h"

namespace buoy::run {
namespace {

using testing::fails_with;
using testing::family_folder;
using Parts = std::initializer_list<std::string>;

::testing::AssertionResult refused(const char* family, const DecodeOptions& options, Parts parts) {
  const ModelConfig config = read_config(family_folder(family));
  return fails_with<UsageError>([&] { check_decoding(config, options); }, parts);
}

DecodeOptions with_mask(std::int32_t tokens = 32) {
  DecodeOptions options;
  options.max_new_tokens = tokens;
  options.mask_token = 75;
  return options;
}

TEST(BlockDecodingRefusals, ABlockLengthOtherThanTheOneOfTheConfig) {
  auto options = with_mask();
  options.block_length = 8;
  EXPECT_TRUE(refused("sdar-f32", options,
                      {"`block_length`", "expected 4, the block length of config.json", "found 8"}));
  EXPECT_NO_THROW(check_decoding(read_config(family_folder("sdar-old-config-f32")), options))
      << "a config that does not say leaves it open";
  options.block_length = 4;
  EXPECT_NO_THROW(check_decoding(read_config(family_folder("sdar-f32")), options));
}

TEST(BlockDecodingRefusals, AMaskTokenThatNobodyKnows) {
  DecodeOptions options;
  options.decoding_rule = "bd3lm";
  EXPECT_TRUE(
      refused("a2d-qwen3-f32", options,
              {"`mask_token`", "config.json has no mask_token_id", "none of 80 tokens", "found none"}));
  options.decoding_rule = "mdlm";
  EXPECT_TRUE(refused("a2d-qwen3-f32", options, {"`mask_token`", "found none"}));
  options.mask_token = 80;
  EXPECT_TRUE(refused("a2d-qwen3-f32", options, {"`mask_token`", "expected an id from 0 to 79", "found 80"}));
  options.mask_token = 79;
  EXPECT_NO_THROW(check_decoding(read_config(family_folder("a2d-qwen3-f32")), options));
}

TEST(BlockDecodingRefusals, AMaskTokenThatTheTokenizerDoesNotHave) {
  const std::optional tokenizer = text::Tokenizer::from_json(
      read_file(testing::data_folder() / "text/tiny_tokenizer.json"), "tokenizer.json");
  ModelConfig config;
  config.family = Family::kSdar;
  config.vocabulary = 1000;
  config.mask_token = tokenizer->id_limit();
  DecodeOptions options;
  EXPECT_TRUE(fails_with<UsageError>([&] { check_mask_token(config, options, tokenizer); },
                                     {"`mask_token`", "expected an id", "SDAR", "no token of the tokenizer",
                                      "found " + std::to_string(tokenizer->id_limit())}));
  EXPECT_NO_THROW(check_mask_token(config, options, std::nullopt)) << "ids need no tokenizer";
  options.mask_token = config.mask_token;
  EXPECT_NO_THROW(check_mask_token(config, options, tokenizer)) << "asked for";
  options.mask_token.reset();
  config.mask_token = 75;
  EXPECT_NO_THROW(check_mask_token(config, options, tokenizer));
}

TEST(BlockDecodingRefusals, AnA2dModelThatIsNotToldItsRule) {
  auto options = with_mask();
  EXPECT_TRUE(
      refused("a2d-qwen3-f32", options,
              {"`decoding_rule`", "expected mdlm or bd3lm", "config.json does not say", "found none"}));
  options.decoding_rule = "ar";
  EXPECT_TRUE(refused("a2d-qwen2-f32", options, {"`decoding_rule`", "expected mdlm or bd3lm", "\"ar\""}));
  options.decoding_rule = "bd3lm";
  EXPECT_TRUE(
      refused("sdar-f32", options,
              {"`decoding_rule`", "a model it belongs to (A2D, LLaDA2, Nemotron-Labs-Diffusion and Qwen2)",
               "found SDAR"}));
}

TEST(BlockDecodingRefusals, OptionsOfOtherLoopsAndWordsThatMeanNothing) {
  auto options = with_mask();
  options.algorithm = "entropy_bounded";
  EXPECT_TRUE(refused("sdar-f32", options, {"`algorithm`", "low_confidence_dynamic", "\"entropy_bounded\""}));
  options = with_mask();
  options.sub_block_length = 2;
  EXPECT_TRUE(refused("sdar-f32", options, {"`sub_block_length`", "Fast-dLLM v2", "found SDAR"}));
  options.sub_block_length = 5;
  EXPECT_TRUE(refused("fast-dllm-v2-f32", options, {"`sub_block_length`", "a divisor of", "found 5"}));
  options = with_mask();
  options.steps_per_block = 5;
  EXPECT_TRUE(refused("sdar-f32", options, {"`steps_per_block`", "expected 1 to 4", "found 5"}));
  options = with_mask(7);
  EXPECT_TRUE(refused("fast-dllm-v2-f32", options, {"`max_new_tokens`", "expected at least", "found 7"}));
}

}  // namespace
}  // namespace buoy::run
