// Nemotron-Labs-Diffusion's config, and numbers of YaRN that no frequencies follow from.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "buoy/base/error.h"
#include "buoy/checkpoint/config.h"
#include "support/fails_with.h"

namespace buoy {
namespace {

using testing::fails_with;

Json nemotron_3b() {
  return {{"architectures", {"NemotronLabsDiffusionModel"}},
          {"attention_bias", false},
          {"block_size", 32},
          {"bos_token_id", 1},
          {"dlm_paradigm", "bidirectional"},
          {"eos_token_id", 11},
          {"head_dim", 128},
          {"hidden_act", "silu"},
          {"hidden_size", 3072},
          {"intermediate_size", 9216},
          {"mask_token_id", 100},
          {"max_position_embeddings", 262144},
          {"mlp_bias", false},
          {"num_attention_heads", 32},
          {"num_hidden_layers", 26},
          {"num_key_value_heads", 8},
          {"rms_norm_eps", 1e-05},
          {"rope_parameters",
           {{"beta_fast", 32.0},
            {"beta_slow", 1.0},
            {"factor", 16.0},
            {"llama_4_scaling_beta", 0.1},
            {"mscale", 1.0},
            {"mscale_all_dim", 1.0},
            {"original_max_position_embeddings", 16384},
            {"rope_theta", 1e6},
            {"rope_type", "yarn"}}},
          {"sliding_window", nullptr},
          {"tie_word_embeddings", false},
          {"use_cache", false},
          {"vocab_size", 131072}};
}

ModelConfig parse(const Json& json) {
  return parse_config(json, "config.json");
}

TEST(NemotronConfig, IsRead) {
  const ModelConfig config = parse(nemotron_3b());
  EXPECT_EQ(config.family, Family::kNemotron);
  EXPECT_EQ(name_of(config.family), "Nemotron-Labs-Diffusion");
  EXPECT_EQ(config.head_dim, 128) << "not 3072 / 32";
  EXPECT_EQ(config.mask_token, 100);
  EXPECT_EQ(config.block_length, 32);
  EXPECT_TRUE(config.states_block_length);
  EXPECT_EQ(mask_of(config), AttentionMaskKind::kCausal);
  EXPECT_TRUE(has_two_readings(config.family) && may_decode_blocks(config.family));
  ASSERT_TRUE(config.rope.yarn);
  EXPECT_EQ(config.rope.theta, 1e6);
  EXPECT_EQ(config.rope.yarn->factor, 16);
  EXPECT_EQ(config.rope.yarn->original_context, 16384);
  EXPECT_EQ(config.rope.yarn->query_beta, 0.1);
  EXPECT_EQ(config.rope.yarn->mscale, 1);
  EXPECT_FALSE(config.rope.scaling);

  Json json = nemotron_3b();
  json["rope_parameters"]["factor"] = nullptr;
  EXPECT_EQ(parse(json).rope.yarn->factor, 16) << "262144 / 16384";
  json["rope_parameters"]["factor"] = 0.25;
  EXPECT_EQ(parse(json).rope.yarn->factor, 0.25);
  json.erase("mask_token_id");
  EXPECT_EQ(parse(json).mask_token, 100);
}

TEST(NemotronConfig, ImpossibleNumbersAreRefusedByFieldExpectedAndFound) {
  struct Refusal {
    const char *key, *value, *expected;
  };
  for (const auto& r : {Refusal{"factor", "0", "a positive number"},
                        {"factor", "-4", "a positive number"},
                        {"factor", "\"16\"", "a number"},
                        {"original_max_position_embeddings", "0", "a positive number"},
                        {"original_max_position_embeddings", "null", "a number"},
                        {"original_max_position_embeddings", "6", "a number from 6.28319 to"},
                        {"original_max_position_embeddings", "1e9", "a number from 6.28319 to"},
                        {"beta_fast", "1", "a number above beta_slow (1)"},
                        {"beta_fast", "0.5", "a number above beta_slow (1)"},
                        {"beta_slow", "0", "a positive number"},
                        {"beta_slow", "64", "a number above beta_slow (64)"},
                        {"mscale", "0", "a positive number"},
                        {"attention_factor", "-1", "a positive number"},
                        {"llama_4_scaling_beta", "-0.1", "0 or more"},
                        {"llama_4_scaling_beta", "null", "a number"},
                        {"truncate", "false", "true"},
                        {"rope_theta", "1", "a number above 1"},
                        {"rope_type", "\"dynamic\"", "\"yarn\""},
                        {"rope_type", "\"llama3\"", "\"yarn\""}}) {
    Json json = nemotron_3b();
    json["rope_parameters"][r.key] = parse_json(r.value, "test");
    const std::string where = std::string(r.key) == "beta_slow" && r.value[0] == '6' ? "beta_fast" : r.key;
    EXPECT_TRUE(fails_with<InputError>(
        [&] { parse(json); },
        {"config.json: rope_parameters: " + where, std::string("expected ") + r.expected, "found "}))
        << r.key << " " << r.value;
  }
}

TEST(NemotronConfig, SettingsOfOtherModelsAreRefused) {
  struct Refusal {
    const char *key, *value, *expected;
  };
  for (const auto& r : {Refusal{"dlm_paradigm", "\"autoregressive\"", "\"bidirectional\""},
                        {"sliding_window", "4096", "null"},
                        {"rope_parameters", "null", "an object with the numbers of YaRN"},
                        {"use_regular_causal", "true", "false"},
                        {"attention_mask_kind", "\"full\"", "no such key"},
                        {"block_size", "0", "a block length from 1 to 262144"}}) {
    Json json = nemotron_3b();
    json[r.key] = parse_json(r.value, "test");
    EXPECT_TRUE(fails_with<InputError>(
        [&] { parse(json); },
        {std::string("config.json: ") + r.key, std::string("expected ") + r.expected, "found "}))
        << r.key;
  }
}

// Nothing that was compared covers it there.
TEST(NemotronConfig, YarnOfOtherFamiliesStaysRefused) {
  Json json = nemotron_3b();
  for (const char* architecture : {"LlamaForCausalLM", "SDARForCausalLM"}) {
    json["architectures"] = {architecture};
    EXPECT_TRUE(fails_with<InputError>([&] { parse(json); },
                                       {"rope_parameters: rope_type", "expected \"llama3\" or \"default\""}));
  }
}

}  // namespace
}  // namespace buoy
