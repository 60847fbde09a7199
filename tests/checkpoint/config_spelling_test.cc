// One meaning, several spellings: LLaDA's keys and transformers' keys, old and new rope keys, one end
// token or a list of them, in config.json or in generation_config.json.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "buoy/base/error.h"
#include "buoy/checkpoint/config.h"
#include "checkpoint/published_configs.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"
#include "support/tiny_checkpoint.h"

namespace buoy {
namespace {

using namespace testing;
using Ids = std::vector<std::int32_t>;

ModelConfig parse(const Json& json) {
  return parse_config(json, "config.json");
}

Json without(Json json, std::initializer_list<const char*> keys) {
  for (const char* key : keys) json.erase(key);
  return json;
}

void expect_same_sizes(const ModelConfig& a, const ModelConfig& b) {
  EXPECT_EQ(a.hidden, b.hidden);
  EXPECT_EQ(a.layers, b.layers);
  EXPECT_EQ(a.heads, b.heads);
  EXPECT_EQ(a.kv_heads, b.kv_heads);
  EXPECT_EQ(a.mlp_hidden, b.mlp_hidden);
  EXPECT_EQ(a.vocabulary, b.vocabulary);
  EXPECT_EQ(a.context, b.context);
  EXPECT_EQ(a.tied_head, b.tied_head);
}

TEST(ConfigSpelling, LladaMayUseTheKeysOfTransformers) {
  Json json = llada_8b();
  const std::pair<const char*, const char*> spellings[] = {{"d_model", "hidden_size"},
                                                           {"n_layers", "num_hidden_layers"},
                                                           {"n_heads", "num_attention_heads"},
                                                           {"n_kv_heads", "num_key_value_heads"},
                                                           {"embedding_size", "vocab_size"},
                                                           {"max_sequence_length", "max_position_embeddings"},
                                                           {"weight_tying", "tie_word_embeddings"},
                                                           {"mlp_hidden_size", "intermediate_size"}};
  for (const auto& [own, common] : spellings) {
    json[common] = json.at(own);
    json.erase(own);
  }
  expect_same_sizes(parse(json), parse(llada_8b()));
}

TEST(AttentionMask, IsTheFamilysUnlessTheConfigStatesOne) {
  using enum AttentionMaskKind;
  for (const auto& json : {llada_8b(), dream_7b()}) EXPECT_EQ(mask_of(parse(json)), kFull);
  for (const auto& json : {llama3_8b(), qwen25_7b_instruct(), qwen3_8b()})
    EXPECT_EQ(mask_of(parse(json)), kCausal);
  const auto stated = [](Json json, const char* mask) {
    json["attention_mask_kind"] = mask;
    return mask_of(parse(json));
  };
  EXPECT_EQ(stated(llama3_8b(), "causal"), kCausal);
  EXPECT_EQ(stated(llama3_8b(), "prefix"), kPrefix);
  EXPECT_EQ(stated(llada_8b(), "causal"), kCausal);
  EXPECT_EQ(stated(llada_8b(), "full"), kFull);
  EXPECT_EQ(stated(dream_7b(), "causal"), kCausal);
}

TEST(ConfigSpelling, EmbeddingSizeWinsOverVocabSize) {
  Json json = llada_8b();
  json["vocab_size"] = 126400;
  EXPECT_EQ(parse(json).vocabulary, 126464);
}

TEST(ConfigSpelling, KeyValueHeadsDefaultToTheQueryHeads) {
  Json json = llada_8b();
  json["n_kv_heads"] = nullptr;
  EXPECT_EQ(parse(json).kv_heads, 32);
  EXPECT_EQ(parse(without(llama3_8b(), {"num_key_value_heads"})).kv_heads, 32);
}

TEST(ConfigSpelling, TiedHeadIsReadUnderBothNames) {
  Json json = llada_8b();
  json["weight_tying"] = true;
  EXPECT_TRUE(parse(json).tied_head);
  json = qwen25_7b_instruct();
  json["tie_word_embeddings"] = true;
  EXPECT_TRUE(parse(json).tied_head);
  EXPECT_FALSE(parse(without(qwen25_7b_instruct(), {"tie_word_embeddings"})).tied_head);
}

TEST(ConfigSpelling, RopeParametersHoldThetaAndScaling) {
  Json json = llama31_8b_instruct();
  json["rope_parameters"] = json.at("rope_scaling");
  json["rope_parameters"]["rope_theta"] = 500000.0;
  json = without(json, {"rope_scaling", "rope_theta"});
  const ModelConfig config = parse(json);
  EXPECT_EQ(config.rope.theta, 500000.0);
  ASSERT_TRUE(config.rope.scaling.has_value());
  EXPECT_EQ(config.rope.scaling->factor, 8.0);
  EXPECT_EQ(config.rope.scaling->original_context, 8192.0);
}

TEST(ConfigSpelling, TypeIsAnAliasOfRopeType) {
  Json json = llama31_8b_instruct();
  json["rope_scaling"].erase("rope_type");
  json["rope_scaling"]["type"] = "llama3";
  EXPECT_TRUE(parse(json).rope.scaling.has_value());
}

TEST(ConfigSpelling, DefaultRopeTypeMeansNoScaling) {
  Json json = qwen3_8b();
  json["rope_scaling"] = parse_json(R"({"rope_type": "default"})", "test");
  EXPECT_FALSE(parse(json).rope.scaling.has_value());
  json = without(json, {"rope_scaling", "rope_theta"});
  json["rope_parameters"] = parse_json(R"({"rope_theta": 7777.0})", "test");
  EXPECT_FALSE(parse(json).rope.scaling.has_value());
  EXPECT_EQ(parse(json).rope.theta, 7777.0);
}

TEST(ConfigSpelling, ThetaDefaultsToTenThousand) {
  EXPECT_EQ(parse(without(llama3_8b(), {"rope_theta"})).rope.theta, 10000.0);
}

TEST(ConfigSpelling, PartialRotaryFactorIsReadInBothPlaces) {
  Json json = llama3_8b();
  json["partial_rotary_factor"] = 0.5;
  EXPECT_EQ(parse(json).rope.rotary_dim, 64);
  json = llama3_8b();
  json["rope_parameters"] = parse_json(R"({"rope_theta": 1e4, "partial_rotary_factor": 0.25})", "test");
  EXPECT_EQ(parse(json).rope.rotary_dim, 32);
}

TEST(ConfigSpelling, EndTokensAreOneIdOrAListOrNone) {
  Json json = llama3_8b();
  EXPECT_EQ(parse(json).eos_tokens, Ids{128001});
  json["eos_token_id"] = {128001, 128009};
  EXPECT_EQ(parse(json).eos_tokens, (Ids{128001, 128009}));
  json["eos_token_id"] = nullptr;
  EXPECT_EQ(parse(json).eos_tokens, Ids{});
}

TEST(GenerationConfig, OverridesTheEndTokens) {
  ModelConfig config = parse(llama3_8b());
  apply_generation_config(config, parse_json(R"({"eos_token_id": [128001, 128009]})", "test"),
                          "generation_config.json");
  EXPECT_EQ(config.eos_tokens, (Ids{128001, 128009}));
  apply_generation_config(config, parse_json(R"({"eos_token_id": 5})", "test"), "generation_config.json");
  EXPECT_EQ(config.eos_tokens, Ids{5});
}

TEST(GenerationConfig, WithoutEndTokensChangesNothing) {
  ModelConfig config = parse(dream_7b());
  for (const char* text :
       {R"({"eos_token_id": null, "mask_token_id": null})", "{}", R"({"eos_token_id": []})"}) {
    apply_generation_config(config, parse_json(text, "test"), "generation_config.json");
    EXPECT_EQ(config.eos_tokens, Ids{151643});
    EXPECT_EQ(config.mask_token, 151666);
  }
}

TEST(GenerationConfig, ReadConfigTakesItFromTheFolderWhenItIsThere) {
  const TempFolder folder;
  folder.write("config.json", to_text(llama3_8b()));
  EXPECT_EQ(read_config(folder.path()).eos_tokens, Ids{128001});
  folder.write("generation_config.json", R"({"eos_token_id": [128001, 128009]})");
  EXPECT_EQ(read_config(folder.path()).eos_tokens, (Ids{128001, 128009}));
}

TEST(GenerationConfig, ErrorsNameItsFile) {
  const TempFolder folder;
  folder.write("config.json", to_text(llama3_8b()));
  const auto path = folder.write("generation_config.json", R"({"eos_token_id": 999999})");
  EXPECT_TRUE(fails_with<InputError>(
      [&] { read_config(folder.path()); },
      {path.string() + ": eos_token_id", "expected a token id below 128256", "found the number 999999"}));
}

}  // namespace
}  // namespace buoy
