// Everything config.json can ask for that Buoy would compute wrongly is refused, by file, field, what was
// expected and what was found.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "buoy/base/error.h"
#include "buoy/checkpoint/config.h"
#include "checkpoint/published_configs.h"
#include "support/fails_with.h"

namespace buoy {
namespace {

using namespace testing;

auto parsing(const Json& json) {
  return [json] { parse_config(json, "config.json"); };
}

Json with(Json json, const std::string& key, const Json& value) {
  json[key] = value;
  return json;
}

// One key of a published config set to a JSON value that Buoy must not accept.
struct Refusal {
  Json (*config)();
  const char *key, *value, *expected, *found;
};

void expect_refused(const std::vector<Refusal>& refusals) {
  for (const auto& r : refusals) {
    EXPECT_NO_THROW(parsing(r.config())());  // it is this value that is wrong
    EXPECT_TRUE(
        fails_with<InputError>(parsing(with(r.config(), r.key, parse_json(r.value, "test"))),
                               {std::string("config.json: ") + r.key + ": ",
                                std::string("expected ") + r.expected, std::string("found ") + r.found}));
  }
}

TEST(UnsupportedSetting, OfLladaIsRefusedByName) {
  expect_refused({{llada_8b, "alibi", "true", "false", "true"},
                  {llada_8b, "rope", "false", "true", "false"},
                  {llada_8b, "attention_layer_norm", "true", "false", "true"},
                  {llada_8b, "bias_for_layer_norm", "true", "false", "true"},
                  {llada_8b, "include_bias", "true", "false", "true"},
                  {llada_8b, "include_qkv_bias", "true", "false", "true"},
                  {llada_8b, "scale_logits", "true", "false", "true"},
                  {llada_8b, "input_emb_norm", "true", "false", "true"},
                  {llada_8b, "multi_query_attention", "true", "false", "true"},
                  {llada_8b, "layer_norm_with_affine", "false", "true", "false"},
                  {llada_8b, "layer_norm_type", R"("low_precision")", "\"rms\"", "text \"low_precision\""},
                  {llada_8b, "activation_type", R"("swiglu")", "\"silu\"", "text \"swiglu\""},
                  {llada_8b, "block_type", R"("sequential")", "\"llama\"", "text \"sequential\""},
                  {llada_8b, "block_group_size", "4", "1", "the number 4"},
                  {llada_8b, "clip_qkv", "8.0", "null", "the number 8.0"}});
}

TEST(UnsupportedSetting, OfTransformersIsRefusedByName) {
  expect_refused({{llama3_8b, "attention_bias", "true", "false", "true"},
                  {llama31_8b_instruct, "mlp_bias", "true", "false", "true"},
                  {qwen25_7b_instruct, "use_sliding_window", "true", "false", "true"},
                  {dream_7b, "use_mrope", "true", "false", "true"},
                  {qwen3_8b, "hidden_act", R"("gelu")", "\"silu\"", "text \"gelu\""},
                  {llama3_8b, "quantization_config", R"({"bits": 4})", "no quantised weights",
                   "an object of 1 fields"}});
}

TEST(UnsupportedSetting, OfTheWrongTypeIsRefusedToo) {
  expect_refused({{llada_8b, "alibi", "0", "true or false", "the number 0"},
                  {llada_8b, "block_group_size", R"("1")", "an integer", "text \"1\""},
                  {llama3_8b, "hidden_act", "true", "text", "true"}});
}

TEST(AttentionMask, MustBeOneOfThreeAndFitWhatIsPredicted) {
  constexpr const char* kAny = "\"causal\", \"prefix\" or \"full\"";
  expect_refused(
      {{llada_8b, "attention_mask_kind", R"("bidirectional")", kAny, "text \"bidirectional\""},
       {llama3_8b, "attention_mask_kind", R"("Causal")", kAny, "text \"Causal\""},
       {llama3_8b, "attention_mask_kind", R"("")", kAny, "text \"\""},
       {llama3_8b, "attention_mask_kind", "1", "text", "the number 1"},
       {llama3_8b, "attention_mask_kind", R"("full")",
        "\"causal\" or \"prefix\" for LlamaForCausalLM, which predicts the next token", "text \"full\""},
       {qwen3_8b, "attention_mask_kind", R"("full")", "\"causal\" or \"prefix\" for Qwen3ForCausalLM",
        "text \"full\""},
       {llada_8b, "attention_mask_kind", R"("prefix")",
        "\"causal\" or \"full\" for LLaDAModelLM, which predicts masked tokens", "text \"prefix\""},
       {dream_7b, "attention_mask_kind", R"("prefix")", "\"causal\" or \"full\" for DreamModel",
        "text \"prefix\""}});
}

TEST(Architecture, MustBeKnown) {
  for (const char* name : {"OlmoeForCausalLM", "DeepseekV3ForCausalLM", "BailingMoeV2ForCausalLM",
                           "GPT2LMHeadModel", "", "llada"}) {
    EXPECT_TRUE(fails_with<InputError>(
        parsing(with(llada_8b(), "architectures", Json::array({name}))),
        {"config.json: architectures", "expected one of LLaDAModelLM, DreamModel, LlamaForCausalLM",
         "Qwen2ForCausalLM, Qwen3ForCausalLM", "found \"" + std::string(name) + '"'}));
  }
}

TEST(Architecture, WhatNoLoopCanDecodeIsRefusedWithTheReason) {
  EXPECT_TRUE(fails_with<InputError>(
      parsing(with(llada_8b(), "architectures", Json::array({"DiffusionGemmaForBlockDiffusion"}))),
      {"config.json: architectures", "expected a model with a mask token", "DiffusionGemma has none",
       "found \"DiffusionGemmaForBlockDiffusion\""}));
}

TEST(Architecture, MustBeGivenAsAList) {
  for (const Json& value : {Json(), Json("LLaDAModelLM"), Json::array(), Json::array({5}), Json::object()}) {
    EXPECT_TRUE(fails_with<InputError>(
        parsing(with(llada_8b(), "architectures", value)),
        {"config.json: architectures", "expected a list with the architecture's name", "found "}));
  }
}

TEST(Sizes, MustBeBetweenOneAndTwoToThe31) {
  constexpr const char* kRange = "a size between 1 and 2^31";
  for (const char* key : {"d_model", "n_layers", "n_heads", "n_kv_heads", "mlp_hidden_size", "embedding_size",
                          "max_sequence_length"}) {
    expect_refused(
        {{llada_8b, key, "0", kRange, "the number 0"},
         {llada_8b, key, "-4", kRange, "the number -4"},
         {llada_8b, key, "2147483648", kRange, "the number 2147483648"},
         {llada_8b, key, "9223372036854775807", kRange, "the number 9223372036854775807"},
         {llada_8b, key, "18446744073709551615", "a 64-bit integer", "the number 18446744073709551615"},
         {llada_8b, key, "32.5", "an integer", "the number 32.5"},
         {llada_8b, key, R"("32")", "an integer", "text \"32\""}});
  }
  expect_refused({{qwen3_8b, "head_dim", "0", kRange, "the number 0"},
                  {qwen3_8b, "head_dim", "-128", kRange, "the number -128"}});
}

TEST(Sizes, MustBeThere) {
  const std::pair<const char*, const char*> keys[] = {
      {"hidden_size", "d_model or hidden_size"},
      {"num_hidden_layers", "n_layers or num_hidden_layers"},
      {"num_attention_heads", "n_heads or num_attention_heads"},
      {"intermediate_size", "mlp_hidden_size or intermediate_size"},
      {"vocab_size", "embedding_size or vocab_size"},
      {"max_position_embeddings", "max_sequence_length or max_pos"}};
  for (const auto& [key, expected] : keys) {
    EXPECT_TRUE(
        fails_with<InputError>(parsing(with(llama3_8b(), key, nullptr)),
                               {"config.json", std::string("expected ") + expected, "found neither"}));
  }
}

TEST(Sizes, HeadsMustDivide) {
  expect_refused({{llama3_8b, "num_attention_heads", "36", "a multiple of 8 key/value heads", "36"},
                  {llada_8b, "n_heads", "48", "a multiple of 32 key/value heads", "48"}});
  EXPECT_TRUE(fails_with<InputError>(
      parsing(with(llama3_8b(), "num_key_value_heads", 64)),
      {"config.json: num_attention_heads", "expected a multiple of 64 key/value heads", "found 32"}));
}

TEST(Sizes, HeadsMustDivideTheHiddenSizeUnlessHeadDimIsGiven) {
  expect_refused({{llama3_8b, "hidden_size", "4100", "a multiple of 32 heads, or head_dim", "4100"},
                  {llada_8b, "d_model", "4100", "a multiple of 32 heads, or head_dim", "4100"}});
  EXPECT_EQ(parse_config(with(qwen3_8b(), "hidden_size", 4100), "config.json").head_dim, 128);
}

TEST(Rotary, NeedsAnEvenNumberOfDimensions) {
  expect_refused({{qwen3_8b, "head_dim", "127", "an even number of rotary dimensions", "127 of 127"},
                  {qwen3_8b, "head_dim", "1", "an even number of rotary dimensions", "1 of 1"}});
  EXPECT_TRUE(fails_with<InputError>(
      parsing(with(llama3_8b(), "hidden_size", 32 * 33)),
      {"config.json: head_dim", "expected an even number of rotary dimensions", "found 33 of 33"}));
  EXPECT_TRUE(
      fails_with<InputError>(parsing(with(qwen3_8b(), "partial_rotary_factor", 0.4)),
                             {"config.json: head_dim", "expected an even number", "found 51.2 of 128"}));
}

TEST(Rotary, FractionMustBeBetweenZeroAndOne) {
  constexpr const char* kRange = "a number above 0 and at most 1";
  expect_refused({{qwen3_8b, "partial_rotary_factor", "0", kRange, "the number 0"},
                  {qwen3_8b, "partial_rotary_factor", "-0.5", kRange, "the number -0.5"},
                  {qwen3_8b, "partial_rotary_factor", "1.5", kRange, "the number 1.5"},
                  {qwen3_8b, "partial_rotary_factor", "1e300", kRange, "the number 1e+300"},
                  {qwen3_8b, "partial_rotary_factor", R"("half")", "a number", "text \"half\""}});
}

TEST(Rotary, ThetaAndEpsilonMustBePositive) {
  for (const char* key : {"rope_theta", "rms_norm_eps"}) {
    expect_refused({{llama3_8b, key, "0.0", "a positive number", "the number 0.0"},
                    {llama3_8b, key, "-1e-5", "a positive number", "the number -1e-05"},
                    {llama3_8b, key, R"("1e-5")", "a number", "text \"1e-5\""}});
  }
  EXPECT_TRUE(fails_with<InputError>(parsing(with(llama3_8b(), "rms_norm_eps", nullptr)),
                                     {"config.json: rms_norm_eps", "expected a number", "found nothing"}));
}

TEST(Rotary, OnlyTheScalingOfLlama3IsKnown) {
  for (const char* type : {"yarn", "linear", "dynamic", "longrope", "mrope"}) {
    for (const char* key : {"rope_type", "type"}) {
      for (const char* place : {"rope_scaling", "rope_parameters"}) {
        Json scaling;
        scaling[key] = type;
        scaling["factor"] = 4.0;
        EXPECT_TRUE(fails_with<InputError>(
            parsing(with(qwen3_8b(), place, scaling)),
            {std::string("config.json: ") + place + ": " + key, "expected \"llama3\" or \"default\"",
             std::string("found text \"") + type}));
      }
    }
  }
}

TEST(Rotary, ScalingWithoutATypeIsNotIgnored) {
  EXPECT_TRUE(fails_with<InputError>(
      parsing(with(qwen3_8b(), "rope_scaling", parse_json(R"({"factor": 4.0})", "test"))),
      {"config.json: rope_scaling: rope_type", "expected \"llama3\" or \"default\"", "found nothing"}));
}

TEST(Rotary, ScalingNeedsAllItsNumbers) {
  for (const char* key :
       {"factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"}) {
    Json json = llama31_8b_instruct();
    json["rope_scaling"].erase(key);
    EXPECT_TRUE(fails_with<InputError>(parsing(json), {std::string("config.json: rope_scaling: ") + key,
                                                       "expected a number", "found nothing"}));
    json["rope_scaling"][key] = 0;
    EXPECT_TRUE(fails_with<InputError>(parsing(json), {std::string("config.json: rope_scaling: ") + key,
                                                       "expected a positive number", "found the number 0"}));
  }
  Json json = llama31_8b_instruct();
  json["rope_scaling"]["low_freq_factor"] = 4.0;
  EXPECT_TRUE(fails_with<InputError>(parsing(json), {"config.json: rope_scaling: low_freq_factor",
                                                     "below high_freq_factor", "found the number 4.0"}));
}

TEST(Tokens, MustBeInTheVocabulary) {
  constexpr const char* kRange = "a token id below 126464";
  for (const char* key : {"mask_token_id", "bos_token_id", "eos_token_id"}) {
    expect_refused({{llada_8b, key, "126464", kRange, "the number 126464"},
                    {llada_8b, key, "-1", kRange, "the number -1"},
                    {llada_8b, key, "18446744073709551615", kRange, "the number 18446744073709551615"},
                    {llada_8b, key, "1.5", kRange, "the number 1.5"},
                    {llada_8b, key, R"("<mask>")", kRange, "text \"<mask>\""}});
  }
  expect_refused({{llada_8b, "eos_token_id", "[1, 126464]", kRange, "the number 126464"}});
}

TEST(Tokens, MaskedDiffusionNeedsAMask) {
  for (const Json& config : {llada_8b(), dream_7b()}) {
    EXPECT_TRUE(fails_with<InputError>(
        parsing(with(config, "mask_token_id", nullptr)),
        {"config.json: mask_token_id", "expected the mask token's id", "found nothing"}));
  }
}

TEST(Config, MustBeAnObject) {
  for (const Json& json : {Json(), Json::array(), Json(5), Json("x")}) {
    EXPECT_TRUE(fails_with<InputError>(parsing(json), {"config.json", "expected a JSON object", "found "}));
  }
}

}  // namespace
}  // namespace buoy
