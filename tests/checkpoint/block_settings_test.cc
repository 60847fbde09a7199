// Block length and mask token of the families that decode blocks, and what their configs may not ask for.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "buoy/base/error.h"
#include "buoy/checkpoint/config.h"
#include "support/fails_with.h"

namespace buoy {
namespace {

using testing::fails_with;

Json published(const char* architecture) {
  return {{"architectures", {architecture}},
          {"hidden_size", 2048},
          {"num_hidden_layers", 28},
          {"num_attention_heads", 16},
          {"num_key_value_heads", 8},
          {"head_dim", 128},
          {"intermediate_size", 6144},
          {"vocab_size", 151936},
          {"max_position_embeddings", 32768},
          {"rms_norm_eps", 1e-6},
          {"rope_theta", 1e6},
          {"eos_token_id", 151643},
          {"tie_word_embeddings", false},
          {"fuse_cross_entropy", true},
          {"sliding_window", nullptr}};
}

ModelConfig parse(const Json& json) {
  return parse_config(json, "config.json");
}

TEST(BlockSettings, DefaultsOfFilesThatDoNotSay) {
  const ModelConfig sdar = parse(published("SDARForCausalLM"));
  EXPECT_EQ(sdar.family, Family::kSdar);
  EXPECT_EQ(sdar.block_length, 4);
  EXPECT_FALSE(sdar.states_block_length);
  EXPECT_EQ(sdar.mask_token, 151669);
  EXPECT_EQ(mask_of(sdar), AttentionMaskKind::kBlocks);

  const ModelConfig fast = parse(published("Fast_dLLM_QwenForCausalLM"));
  EXPECT_EQ(fast.block_length, 32);
  EXPECT_EQ(fast.mask_token, 151665);
  EXPECT_EQ(mask_of(fast), AttentionMaskKind::kBlocks);

  const ModelConfig a2d = parse(published("A2DQwen3LMHeadModel"));
  EXPECT_FALSE(a2d.block_length);
  EXPECT_EQ(a2d.mask_token, 151669);
  EXPECT_EQ(mask_of(a2d), AttentionMaskKind::kFull);
  EXPECT_EQ(parse(published("A2DQwen2LMHeadModel")).mask_token, 151665);
  for (const auto family : {Family::kSdar, Family::kFastDllm, Family::kA2dQwen2, Family::kA2dQwen3})
    EXPECT_TRUE(is_masked_diffusion(family));
}

TEST(BlockSettings, WhatAFileStatesIsTaken) {
  Json json = published("SDARForCausalLM");
  json["block_size"] = 32;
  json["mask_token_id"] = 5;
  const ModelConfig config = parse(json);
  EXPECT_EQ(config.block_length, 32);
  EXPECT_TRUE(config.states_block_length);
  EXPECT_EQ(config.mask_token, 5);
}

TEST(BlockSettings, AMaskTokenBeyondASmallVocabularyIsNone) {
  Json json = published("SDARForCausalLM");
  json["vocab_size"] = 80;
  json["eos_token_id"] = 1;
  EXPECT_FALSE(parse(json).mask_token);
}

TEST(BlockSettings, RefusedByFileFieldExpectedAndFound) {
  struct Refusal {
    const char *architecture, *key, *value, *expected;
  };
  for (const auto& r :
       {Refusal{"SDARForCausalLM", "use_regular_causal", "true", "false"},
        {"SDARForCausalLM", "block_size", "0", "a block length from 1 to 32768"},
        {"SDARForCausalLM", "block_size", "40000", "a block length from 1 to 32768"},
        {"SDARForCausalLM", "mask_token_id", "151936", "a token id below 151936"},
        {"SDARForCausalLM", "attention_mask_kind", "\"full\"", "no such key"},
        {"SDARForCausalLM", "rope_scaling", R"({"rope_type": "dynamic", "factor": 2})", ""},
        {"Fast_dLLM_QwenForCausalLM", "bd_size", "-1", "a block length"},
        {"Fast_dLLM_QwenForCausalLM", "layer_types", R"(["sliding_attention"])", "\"full_attention\""},
        {"A2DQwen3LMHeadModel", "delete_token_id", "7", "no such key"},
        {"A2DQwen3LMHeadModel", "split_token_id", "7", "no such key"},
        {"SDARForCausalLM", "expert_capacity", "7", "no such key"},
        {"SDARForCausalLM", "image_token_offset", "7", "no such key"}}) {
    Json json = published(r.architecture);
    EXPECT_NO_THROW(parse(json));
    json[r.key] = parse_json(r.value, "test");
    EXPECT_TRUE(fails_with<InputError>([&] { parse(json); },
                                       {"config.json", r.expected[0] == '\0' ? "rope_type" : r.key,
                                        std::string("expected ") + r.expected, "found "}))
        << r.key;
  }
}

}  // namespace
}  // namespace buoy
