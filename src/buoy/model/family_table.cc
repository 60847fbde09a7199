#include "buoy/model/family_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/checkpoint/architectures.h"
#include "buoy/model/memory.h"

namespace buoy::model {
namespace {

struct Shape {
  std::int64_t hidden, layers, heads, kv_heads, head_dim, mlp, vocabulary;
  bool tied = false;
  std::int64_t experts = 0, chosen = 0, width = 0, shared = 0;
  std::int64_t dense_layers = 0;  // the first ones
  bool expert_bias = false;
};

constexpr Shape kQwen3Small = {1024, 28, 16, 8, 128, 3072, 151936, true},
                kQwen25Small = {896, 24, 14, 2, 64, 4864, 151936, true},
                kQwen3Experts = {2048, 48, 32, 4, 128, 6144, 151936, false, 128, 8, 768};

Shape smallest_shape(Family family) {
  switch (family) {
    case Family::kLlada:
      return {4096, 32, 32, 32, 128, 12288, 126464};
    case Family::kDream:
      return {3584, 28, 28, 4, 128, 18944, 152064};
    case Family::kLlama:
      return {2048, 16, 32, 8, 64, 8192, 128256, true};
    case Family::kQwen2:
    case Family::kA2dQwen2:
      return kQwen25Small;
    case Family::kQwen3:
    case Family::kA2dQwen3:
      return kQwen3Small;
    case Family::kSdar:
      return {2048, 28, 16, 8, 128, 6144, 151936};
    case Family::kFastDllm:
      return {1536, 28, 12, 2, 128, 8960, 151936, true};
    case Family::kNemotron:
      return {3072, 26, 32, 8, 128, 9216, 131072};
    case Family::kMixtral:
      return {4096, 32, 32, 8, 128, 14336, 32000, false, 8, 2, 14336};
    case Family::kLladaMoe:
      return {2048, 16, 16, 16, 128, 8192, 157184, false, 64, 8, 1024};
    case Family::kLlada2:
      return {2048, 20, 16, 4, 128, 5120, 157184, false, 256, 8, 512, 512, 1, true};
    default:
      BUOY_CHECK(family == Family::kQwen3Moe || family == Family::kSdarMoe || family == Family::kRnd1);
      return kQwen3Experts;
  }
}

std::string gigabytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
}

}  // namespace

const std::vector<FamilyFacts>& family_facts() {
  static const std::vector<FamilyFacts> all = {
      {Family::kLlada, "LLaDA 8B, 1.5; iLLaDA", "full; p", "LLaDA's", "",
       "`goldens/llada-*`, `families/illada-f32`", "LLaDA-8B", "ALiBi, a norm other than RMS, biases"},
      {Family::kDream, "Dream 7B, DiffuCoder", "full; p - 1", "Dream's", "", "`goldens/dream-*`",
       "Dream-v0-7B", "sliding windows"},
      {Family::kLlama, "Llama 3, 3.1, 3.2 and others of their shape", "causal; p - 1", "token by token", "",
       "`goldens/llama3*`", "Llama-3.2-1B", "rotary scaling other than llama3, biases"},
      {Family::kQwen2, "Qwen2, Qwen2.5; Open-dCoder",
       "causal; p - 1. Open-dCoder full, under `decoding_rule` open_dcoder",
       "token by token; Open-dCoder Dream's, with order `p2`", "",
       "`goldens/qwen2-*`, `families/open-dcoder-f32`", "Qwen2.5-0.5B", "sliding windows, M-RoPE, YaRN"},
      {Family::kQwen3, "Qwen3, dense", "causal; p - 1", "token by token", "", "`goldens/qwen3-*`",
       "Qwen3-0.6B", "sliding windows, YaRN"},
      {Family::kA2dQwen3, "A2D on Qwen3 (dllm), OPDLM",
       "full (mdlm), or blocks from the prompt's end (bd3lm); p",
       "`decoding_rule` mdlm or bd3lm is required: the config does not say", "", "`families/a2d-qwen3-*`",
       "Qwen3-0.6B-diffusion", "a tied head that differs from the stored one"},
      {Family::kA2dQwen2, "A2D on Qwen2.5 (dllm)", "as A2D on Qwen3", "as A2D on Qwen3", "",
       "`families/a2d-qwen2-f32`", "Qwen2.5-Coder-0.5B-Instruct-diffusion", "as A2D on Qwen3"},
      {Family::kSdar, "SDAR, TraDo, dense", "blocks from position 0; p",
       "SDAR's: dynamic, static, sequential", "", "`families/sdar-f32`, `sdar-old-config-f32`",
       "SDAR-1.7B-Chat", "`use_regular_causal`, a block length other than the config's"},
      {Family::kFastDllm, "Fast-dLLM v2", "blocks from position 0; p - 1, within a block, too",
       "sub-blocks and a threshold; whole blocks alone, so it may return fewer tokens", "`block_cache`",
       "`families/fast-dllm-v2-f32`", "Fast_dLLM_v2_1.5B", "a block length other than the config's"},
      {Family::kNemotron, "Nemotron-Labs-Diffusion",
       "a causal prefix, a block that sees itself as a whole, from the prompt's end; p. Read token by token: "
       "causal, p - 1",
       "`decoding_rule` diffusion (default) or autoregressive: the same weights", "", "`families/nemotron-*`",
       "Nemotron-Labs-Diffusion-3B",
       "`dlm_paradigm` other than bidirectional, impossible YaRN, the self-speculating mode"},
      {Family::kQwen3Moe, "Qwen3-MoE", "causal; p - 1", "token by token", "", "`families/qwen3-moe-*`",
       "Qwen3-30B-A3B", "both layouts of experts at once"},
      {Family::kMixtral, "Mixtral", "causal; p - 1", "token by token", "", "`families/mixtral-f32`",
       "Mixtral-8x7B", "a sliding window, `norm_topk_prob` false"},
      {Family::kLladaMoe, "LLaDA-MoE", "full; p", "LLaDA's", "", "`families/llada-moe-*`", "LLaDA-MoE-7B-A1B",
       "another score function, a shared expert"},
      {Family::kSdarMoe, "SDAR-MoE", "blocks from position 0; p", "SDAR's", "", "`families/sdar-moe-f32`",
       "SDAR-30B-A3B-Chat", "as SDAR"},
      {Family::kRnd1, "RND1", "full; p - 1", "its own: what is least certain stays masked", "",
       "`families/rnd1-f32`", "RND1-Base-0910", "`norm_topk_prob` false"},
      {Family::kLlada2, "LLaDA2.0, 2.1", "blocks from position 0; p",
       "`decoding_rule` llada2 or llada21 (tokens may be edited) is required: the config does not say", "",
       "`families/llada2-*`", "LLaDA2.0-mini",
       "2.2 (`delete_token_id`, `split_token_id`), `expert_capacity`, Uni (`image_token_offset`), another "
       "score function"}};
  return all;
}

const FamilyFacts* facts_of(Family family) {
  const auto& all = family_facts();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& f) { return f.family == family; });
  return found == all.end() ? nullptr : &*found;
}

ModelConfig smallest_of(Family family) {
  const Shape shape = smallest_shape(family);
  ModelConfig c{};
  c.family = family;
  c.hidden = shape.hidden, c.layers = shape.layers, c.heads = shape.heads, c.kv_heads = shape.kv_heads;
  c.head_dim = shape.head_dim, c.mlp_hidden = shape.mlp, c.vocabulary = shape.vocabulary;
  c.tied_head = shape.tied;
  if (shape.experts == 0) return c;
  auto& e = c.experts.emplace();
  e.count = shape.experts, e.chosen = shape.chosen, e.width = shape.width, e.shared_width = shape.shared;
  e.bias = shape.expert_bias;
  e.dense.assign(static_cast<std::size_t>(shape.layers), false);
  std::fill_n(e.dense.begin(), shape.dense_layers, true);
  return c;
}

std::string describe_families() {
  std::string out =
      "| family | `architectures` | attention; the row of position p | decoding | not exact | compared with "
      "| smallest "
      "published checkpoint | memory | refused |\n|---|---|---|---|---|---|---|---|---|\n";
  constexpr std::int64_t kTokens = 1024;
  for (const auto& f : family_facts()) {
    std::string names;
    for (const auto& name : architectures_of(f.family))
      names += fmt::format("{}`{}`", names.empty() ? "" : ", ", name);
    const auto config = smallest_of(f.family);
    const auto cpu = memory_need(config, {Device::kCpu, kTokens, 0}),
               gpu = memory_need(config, {Device::kCuda, kTokens, 0});
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {}, {:.2f}B | {} + {}, GPU {} | {} |\n", f.models,
                       names, f.attention, f.decoding, f.approximation.empty() ? "-" : f.approximation,
                       f.compared, f.smallest, static_cast<double>(parameters_of(config)) / 1e9,
                       gigabytes(cpu.weights), gigabytes(cpu.work), gigabytes(gpu.all()), f.refused);
  }
  out +=
      "| DiffusionGemma | `DiffusionGemmaForBlockDiffusion` | - | - | - | - | - | - | all of it, by name: no "
      "mask "
      "token |\n";
  return out;
}

}  // namespace buoy::model
