#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "buoy/base/error.h"
#include "buoy/base/file/json_file.h"
#include "buoy/checkpoint/config.h"
#include "buoy/checkpoint/shard_index.h"

// Any text as config.json, as generation_config.json and as a shard index. Only buoy::Error may come out,
// and what is accepted must keep the promises the rest of the program relies on.

namespace {

using buoy::Json;
using buoy::ModelConfig;

void expect(bool promise) {
  if (!promise) std::abort();
}

void expect_token(const ModelConfig& config, std::int64_t id) {
  expect(id >= 0 && id < config.vocabulary);
}

void expect_usable(const ModelConfig& config) {
  for (const auto size : {config.hidden, config.layers, config.heads, config.kv_heads, config.head_dim,
                          config.mlp_hidden, config.vocabulary, config.context}) {
    expect(size >= 1 && size < std::int64_t{1} << 31);
  }
  expect(config.heads % config.kv_heads == 0);
  expect(config.rope.rotary_dim % 2 == 0 && config.rope.rotary_dim >= 2);
  expect(config.rope.rotary_dim <= config.head_dim);
  expect(config.norm_eps > 0 && config.rope.theta > 0);
  if (config.mask_token) expect_token(config, *config.mask_token);
  if (config.bos_token) expect_token(config, *config.bos_token);
  for (const auto id : config.eos_tokens) expect_token(config, id);
  expect(config.mask_token || !buoy::is_masked_diffusion(config.family));
}

void try_config(const Json& json) {
  try {
    ModelConfig config = buoy::parse_config(json, "config.json");
    expect_usable(config);
    buoy::apply_generation_config(config, json, "generation_config.json");
    expect_usable(config);
  } catch (const buoy::Error&) {
  }
}

void try_generation_config(const Json& json) {
  ModelConfig config{};
  config.vocabulary = 1000;
  try {
    buoy::apply_generation_config(config, json, "generation_config.json");
    for (const auto id : config.eos_tokens) expect_token(config, id);
  } catch (const buoy::Error&) {
  }
}

void try_index(const Json& json) {
  try {
    for (const auto& [tensor, shard] : buoy::parse_shard_index(json, "index.json")) {
      expect(shard.ends_with(".safetensors") && shard.find('/') == std::string::npos);
    }
  } catch (const buoy::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, size_t size) {
  Json json;
  try {
    json = buoy::parse_json({reinterpret_cast<const char*>(data), size}, "fuzzed");
  } catch (const buoy::Error&) {
    return 0;
  }
  try_config(json);
  try_generation_config(json);
  try_index(json);
  return 0;
}
