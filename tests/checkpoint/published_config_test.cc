// The config.json of every published checkpoint, and what Buoy must read from it.

#include <gtest/gtest.h>

#include "buoy/checkpoint/config.h"
#include "checkpoint/published_configs.h"

namespace buoy {
namespace {

using namespace testing;
using Ids = std::vector<std::int32_t>;

// Parameters of a model with these sizes; the totals are published.
std::int64_t parameters(const ModelConfig& c) {
  const std::int64_t queries = c.heads * c.head_dim, keys = c.kv_heads * c.head_dim;
  std::int64_t layer =
      2 * c.hidden + 2 * queries * c.hidden + 2 * keys * c.hidden + 3 * c.mlp_hidden * c.hidden;
  if (c.family == Family::kDream || c.family == Family::kQwen2) layer += queries + 2 * keys;
  if (c.family == Family::kQwen3) layer += 2 * c.head_dim;
  return c.vocabulary * c.hidden * (c.tied_head ? 1 : 2) + c.hidden + c.layers * layer;
}

TEST(PublishedConfig, Llada8b) {
  const ModelConfig config = parse_config(llada_8b(), "config.json");
  EXPECT_EQ(config.family, Family::kLlada);
  EXPECT_EQ(config.architecture, "LLaDAModelLM");
  EXPECT_EQ(config.hidden, 4096);
  EXPECT_EQ(config.layers, 32);
  EXPECT_EQ(config.heads, 32);
  EXPECT_EQ(config.kv_heads, 32);
  EXPECT_EQ(config.head_dim, 128);
  EXPECT_EQ(config.mlp_hidden, 12288);
  EXPECT_EQ(config.vocabulary, 126464);
  EXPECT_EQ(config.context, 4096);
  EXPECT_EQ(config.norm_eps, 1e-5);
  EXPECT_EQ(config.rope.theta, 500000.0);
  EXPECT_EQ(config.rope.rotary_dim, 128);
  EXPECT_FALSE(config.rope.scaling.has_value());
  EXPECT_FALSE(config.tied_head);
  EXPECT_EQ(config.mask_token, 126336);
  EXPECT_EQ(config.bos_token, std::nullopt);
  EXPECT_EQ(config.eos_tokens, Ids{126081});
  EXPECT_EQ(parameters(config), 8'015'581'184);
}

TEST(PublishedConfig, Dream7b) {
  const ModelConfig config = parse_config(dream_7b(), "config.json");
  EXPECT_EQ(config.family, Family::kDream);
  EXPECT_EQ(config.architecture, "DreamModel");
  EXPECT_EQ(config.hidden, 3584);
  EXPECT_EQ(config.layers, 28);
  EXPECT_EQ(config.heads, 28);
  EXPECT_EQ(config.kv_heads, 4);
  EXPECT_EQ(config.head_dim, 128);
  EXPECT_EQ(config.mlp_hidden, 18944);
  EXPECT_EQ(config.vocabulary, 152064);
  EXPECT_EQ(config.context, 131072);
  EXPECT_EQ(config.norm_eps, 1e-6);
  EXPECT_EQ(config.rope.theta, 1000000.0);
  EXPECT_EQ(config.rope.rotary_dim, 128);
  EXPECT_FALSE(config.rope.scaling.has_value());
  EXPECT_FALSE(config.tied_head);
  EXPECT_EQ(config.mask_token, 151666);
  EXPECT_EQ(config.bos_token, 151643);
  EXPECT_EQ(config.eos_tokens, Ids{151643});
  EXPECT_EQ(parameters(config), 7'615'616'512);
}

TEST(PublishedConfig, Llama3_8b) {
  const ModelConfig config = parse_config(llama3_8b(), "config.json");
  EXPECT_EQ(config.family, Family::kLlama);
  EXPECT_EQ(config.architecture, "LlamaForCausalLM");
  EXPECT_EQ(config.hidden, 4096);
  EXPECT_EQ(config.layers, 32);
  EXPECT_EQ(config.heads, 32);
  EXPECT_EQ(config.kv_heads, 8);
  EXPECT_EQ(config.head_dim, 128);
  EXPECT_EQ(config.mlp_hidden, 14336);
  EXPECT_EQ(config.vocabulary, 128256);
  EXPECT_EQ(config.context, 8192);
  EXPECT_EQ(config.norm_eps, 1e-5);
  EXPECT_EQ(config.rope.theta, 500000.0);
  EXPECT_FALSE(config.rope.scaling.has_value());
  EXPECT_EQ(config.mask_token, std::nullopt);
  EXPECT_EQ(config.bos_token, 128000);
  EXPECT_EQ(config.eos_tokens, Ids{128001});
  EXPECT_EQ(parameters(config), 8'030'261'248);
}

TEST(PublishedConfig, Llama31_8bInstruct) {
  const ModelConfig config = parse_config(llama31_8b_instruct(), "config.json");
  EXPECT_EQ(config.family, Family::kLlama);
  EXPECT_EQ(config.head_dim, 128);
  EXPECT_EQ(config.context, 131072);
  EXPECT_EQ(config.rope.theta, 500000.0);
  ASSERT_TRUE(config.rope.scaling.has_value());
  EXPECT_EQ(config.rope.scaling->factor, 8.0);
  EXPECT_EQ(config.rope.scaling->low_freq_factor, 1.0);
  EXPECT_EQ(config.rope.scaling->high_freq_factor, 4.0);
  EXPECT_EQ(config.rope.scaling->original_context, 8192.0);
  EXPECT_EQ(config.eos_tokens, (Ids{128001, 128008, 128009}));
  EXPECT_EQ(parameters(config), 8'030'261'248);
}

TEST(PublishedConfig, Qwen25_7bInstruct) {
  const ModelConfig config = parse_config(qwen25_7b_instruct(), "config.json");
  EXPECT_EQ(config.family, Family::kQwen2);
  EXPECT_EQ(config.architecture, "Qwen2ForCausalLM");
  EXPECT_EQ(config.hidden, 3584);
  EXPECT_EQ(config.heads, 28);
  EXPECT_EQ(config.kv_heads, 4);
  EXPECT_EQ(config.head_dim, 128);
  EXPECT_EQ(config.context, 32768);
  EXPECT_EQ(config.norm_eps, 1e-6);
  EXPECT_EQ(config.rope.theta, 1000000.0);
  EXPECT_EQ(config.eos_tokens, Ids{151645});
  EXPECT_EQ(parameters(config), 7'615'616'512);  // Dream was made from it
}

TEST(PublishedConfig, Qwen3_8b) {
  const ModelConfig config = parse_config(qwen3_8b(), "config.json");
  EXPECT_EQ(config.family, Family::kQwen3);
  EXPECT_EQ(config.architecture, "Qwen3ForCausalLM");
  EXPECT_EQ(config.layers, 36);
  EXPECT_EQ(config.kv_heads, 8);
  EXPECT_EQ(config.mlp_hidden, 12288);
  EXPECT_EQ(config.vocabulary, 151936);
  EXPECT_EQ(config.context, 40960);
  EXPECT_EQ(config.rope.theta, 1000000.0);
  EXPECT_FALSE(config.tied_head);
  EXPECT_EQ(parameters(config), 8'190'735'360);
}

TEST(PublishedConfig, Qwen3_600mHasHeadsWiderThanItsHiddenSizeSuggests) {
  const ModelConfig config = parse_config(qwen3_600m(), "config.json");
  EXPECT_EQ(config.hidden / config.heads, 64);
  EXPECT_EQ(config.head_dim, 128);
  EXPECT_EQ(config.rope.rotary_dim, 128);
  EXPECT_TRUE(config.tied_head);
}

TEST(PublishedConfig, OnlyLladaAndDreamAreMaskedDiffusion) {
  EXPECT_TRUE(is_masked_diffusion(Family::kLlada));
  EXPECT_TRUE(is_masked_diffusion(Family::kDream));
  EXPECT_FALSE(is_masked_diffusion(Family::kLlama));
  EXPECT_FALSE(is_masked_diffusion(Family::kQwen2));
  EXPECT_FALSE(is_masked_diffusion(Family::kQwen3));
}

TEST(PublishedConfig, FamiliesHaveTheNamesPeopleUse) {
  EXPECT_EQ(name_of(Family::kLlada), "LLaDA");
  EXPECT_EQ(name_of(Family::kDream), "Dream");
  EXPECT_EQ(name_of(Family::kLlama), "Llama");
  EXPECT_EQ(name_of(Family::kQwen2), "Qwen2");
  EXPECT_EQ(name_of(Family::kQwen3), "Qwen3");
}

}  // namespace
}  // namespace buoy
