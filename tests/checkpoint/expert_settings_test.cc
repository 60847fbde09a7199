// What configs say of experts, and what they may not say.

#include "buoy/checkpoint/expert_settings.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "buoy/base/error.h"
#include "support/fails_with.h"

namespace buoy {
namespace {

using testing::fails_with;

ModelConfig parse(const Json& json) {
  return parse_config(json, "config.json");
}

Json body(const char* architecture) {
  return {{"architectures", {architecture}},
          {"hidden_size", 2048},
          {"num_hidden_layers", 6},
          {"num_attention_heads", 16},
          {"num_key_value_heads", 4},
          {"head_dim", 128},
          {"vocab_size", 157184},
          {"max_position_embeddings", 32768},
          {"rms_norm_eps", 1e-6},
          {"rope_theta", 1e6},
          {"num_experts_per_tok", 8},
          {"tie_word_embeddings", false}};
}

Json qwen3_moe(const char* architecture = "Qwen3MoeForCausalLM") {
  Json json = body(architecture);
  json.update({{"num_experts", 128}, {"moe_intermediate_size", 768}, {"intermediate_size", 6144}});
  return json;
}

Json mixtral() {
  Json json = body("MixtralForCausalLM");
  json.update({{"num_local_experts", 8}, {"intermediate_size", 14336}, {"sliding_window", nullptr}});
  json["num_experts_per_tok"] = 2;
  return json;
}

Json llada_moe() {
  Json json = body("LLaDAMoEModel");
  json.update({{"num_experts", 64},
               {"expert_intermediate_size", 1024},
               {"dense_intermediate_size", 8192},
               {"moe_layer_freq", {0, 1, 1, 1, 1, 1}},
               {"moe_router_score_function", "softmax"},
               {"norm_topk_prob", true},  // read by nobody
               {"qk_layernorm", true},
               {"partial_rotary_factor", 1},
               {"shared_expert_intermediate_size", nullptr}});
  return json;
}

Json llada2() {
  Json json = body("LLaDA2MoeModelLM");
  json.update({{"num_experts", 256},
               {"moe_intermediate_size", 512},
               {"intermediate_size", 5120},
               {"num_shared_experts", 1},
               {"n_group", 8},
               {"topk_group", 4},
               {"routed_scaling_factor", 2.5},
               {"score_function", "sigmoid"},
               {"router_dtype", "fp32"},
               {"norm_topk_prob", true},
               {"first_k_dense_replace", 1},
               {"rotary_dim", 64},
               {"sliding_window", 4096},
               {"use_bias", false},
               {"use_qkv_bias", false}});
  return json;
}

TEST(ExpertSettings, Qwen3Moe) {
  Json json = qwen3_moe();
  ModelConfig config = parse(json);
  EXPECT_EQ(config.family, Family::kQwen3Moe);
  EXPECT_FALSE(is_masked_diffusion(config.family));
  ASSERT_TRUE(config.experts);
  EXPECT_EQ(config.experts->count, 128);
  EXPECT_EQ(config.experts->chosen, 8);
  EXPECT_EQ(config.experts->width, 768);
  EXPECT_FALSE(config.experts->renormalise) << "what the class has where the file is silent";
  EXPECT_EQ(config.experts->dense, std::vector<bool>(6, false));
  EXPECT_EQ(widest_mlp(config), 0);
  json.update({{"norm_topk_prob", true}, {"decoder_sparse_step", 2}, {"mlp_only_layers", {1}}});
  config = parse(json);
  EXPECT_TRUE(config.experts->renormalise);
  EXPECT_EQ(config.experts->dense, (std::vector<bool>{true, true, true, false, true, false}));
  EXPECT_EQ(widest_mlp(config), 6144);
  json.erase("num_experts");
  json["num_local_experts"] = 64;
  EXPECT_EQ(parse(json).experts->count, 64) << "the other name of it";
}

TEST(ExpertSettings, ChildrenOfQwen3Moe) {
  const ModelConfig sdar = parse(qwen3_moe("SDARMoeForCausalLM")), rnd1 = parse(qwen3_moe("RND1"));
  EXPECT_EQ(sdar.family, Family::kSdarMoe);
  EXPECT_EQ(sdar.block_length, 4);
  EXPECT_EQ(sdar.mask_token, 151669);
  EXPECT_EQ(mask_of(sdar), AttentionMaskKind::kBlocks);
  EXPECT_TRUE(sdar.experts->renormalise);
  EXPECT_EQ(rnd1.family, Family::kRnd1);
  EXPECT_EQ(rnd1.mask_token, 151669);
  EXPECT_EQ(mask_of(rnd1), AttentionMaskKind::kFull);
  EXPECT_TRUE(rnd1.experts->renormalise);
  Json small = qwen3_moe("RND1");
  small["vocab_size"] = 1000;
  EXPECT_FALSE(parse(small).mask_token);
}

TEST(ExpertSettings, Mixtral) {
  const ModelConfig config = parse(mixtral());
  EXPECT_EQ(config.experts->count, 8);
  EXPECT_EQ(config.experts->width, 14336);
  EXPECT_TRUE(config.experts->renormalise);
}

TEST(ExpertSettings, LladaMoe) {
  Json json = llada_moe();
  for (const char* name : {"LLaDAMoEModel", "LLaDAMoEModelLM"}) {
    json["architectures"] = {name};
    const ModelConfig config = parse(json);
    EXPECT_EQ(config.family, Family::kLladaMoe);
    EXPECT_EQ(config.mask_token, 156895);
    EXPECT_EQ(mask_of(config), AttentionMaskKind::kFull);
    EXPECT_FALSE(config.experts->renormalise) << "whatever norm_topk_prob says";
    EXPECT_FALSE(config.experts->bias);
    EXPECT_TRUE(config.experts->dense.front());
    EXPECT_EQ(config.mlp_hidden, 8192);
  }
}

TEST(ExpertSettings, Llada2) {
  const ModelConfig config = parse(llada2());
  EXPECT_EQ(config.block_length, 32);
  EXPECT_FALSE(config.states_block_length);
  EXPECT_EQ(config.mask_token, 156895);
  EXPECT_EQ(config.rope.rotary_dim, 64) << "half of a head where the file does not say";
  const ExpertConfig& experts = *config.experts;
  EXPECT_EQ(experts.router, RouterType::kSigmoidGroups);
  EXPECT_EQ(experts.groups, 8);
  EXPECT_EQ(experts.kept_groups, 4);
  EXPECT_EQ(experts.scale, 2.5);
  EXPECT_EQ(experts.shared_width, 512);
  EXPECT_TRUE(experts.bias);
  EXPECT_EQ(experts.dense, (std::vector<bool>{true, false, false, false, false, false}));
}

TEST(ExpertSettings, RefusedByFileFieldExpectedAndFound) {
  struct Refusal {
    Json (*config)();
    const char *key, *value, *expected;
  };
  const auto qwen = [] { return qwen3_moe(); };
  const auto sdar = [] { return qwen3_moe("SDARMoeForCausalLM"); };
  const auto rnd1 = [] { return qwen3_moe("RND1"); };
  for (const auto& r : std::vector<Refusal>{
           {qwen, "num_experts_per_tok", "129", "at most 128"},
           {qwen, "num_experts_per_tok", "0", ""},
           {qwen, "num_experts_per_tok", "null", ""},
           {qwen, "num_experts", "0", ""},
           {qwen, "num_experts", "\"128\"", ""},
           {qwen, "num_local_experts", "64", "128, as num_experts"},
           {qwen, "moe_intermediate_size", "null", ""},
           {qwen, "decoder_sparse_step", "0", ""},
           {qwen, "mlp_only_layers", "[6]", ""},
           {qwen, "mlp_only_layers", "3", "a list"},
           {qwen, "norm_topk_prob", "\"yes\"", ""},
           {qwen, "use_sliding_window", "true", "false"},
           {qwen, "expert_capacity", "4", "no such key"},
           {qwen, "quantization_config", "{}", "no quantised weights"},
           {sdar, "expert_capacity", "4", "no such key"},
           {sdar, "use_regular_causal", "true", "false"},
           {sdar, "block_size", "0", "a block length"},
           {rnd1, "norm_topk_prob", "false", "true"},
           {rnd1, "mlp_only_layers", "[0]", "experts in every layer"},
           {rnd1, "delete_token_id", "4", "no such key"},
           {mixtral, "sliding_window", "4096", "null"},
           {mixtral, "norm_topk_prob", "false", "true"},
           {mixtral, "num_local_experts", "0", ""},
           {llada_moe, "moe_router_score_function", "\"sigmoid\"", "\"softmax\""},
           {llada_moe, "shared_expert_intermediate_size", "1024", "null"},
           {llada_moe, "moe_layer_freq", "[1, 1]", "a list of 6 numbers"},
           {llada_moe, "moe_layer_freq", "[1, 1, 1, 1, 1, 2]", ""},
           {llada_moe, "moe_layer_freq", "null", "a list"},
           {llada_moe, "partial_rotary_factor", "null", "a number"},
           {llada_moe, "partial_rotary_factor", "-1", "a number"},
           {llada_moe, "dense_intermediate_size", "null", ""},
           {llada_moe, "qk_layernorm", "false", "true"},
           {llada_moe, "clip_qkv", "8", "null"},
           {llada2, "score_function", "\"softmax\"", "\"sigmoid\""},
           {llada2, "router_dtype", "\"bf16\"", "\"fp32\""},
           {llada2, "norm_topk_prob", "false", "true"},
           {llada2, "n_group", "7", "a number that divides 256"},
           {llada2, "n_group", "256", "a number that divides 256 experts into groups of at least 2"},
           {llada2, "topk_group", "9", ""},
           {llada2, "num_experts_per_tok", "129", "at most 128, the experts of 4 groups"},
           {llada2, "routed_scaling_factor", "0", "a positive number"},
           {llada2, "routed_scaling_factor", "null", ""},
           {llada2, "first_k_dense_replace", "7", ""},
           {llada2, "rotary_dim", "128", "64"},
           {llada2, "use_bias", "null", "false"},
           {llada2, "use_qkv_bias", "true", "false"},
           {llada2, "use_qk_norm", "false", "true"},
           {llada2, "delete_token_id", "156900", "no such key"},
           {llada2, "split_token_id", "156901", "no such key"},
           {llada2, "expert_capacity", "4", "no such key"},
           {llada2, "image_token_offset", "157184", "no such key"}}) {
    Json json = r.config();
    EXPECT_NO_THROW(parse(json));
    json[r.key] = parse_json(r.value, "test");
    EXPECT_TRUE(fails_with<InputError>(
        [&] { parse(json); }, {"config.json", r.key, std::string("expected ") + r.expected, "found "}))
        << r.key << " " << r.value;
  }
}

}  // namespace
}  // namespace buoy
