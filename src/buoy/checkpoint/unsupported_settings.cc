#include "buoy/checkpoint/unsupported_settings.h"

#include <array>
#include <nlohmann/json.hpp>

#include "buoy/base/error.h"

namespace buoy {
namespace {

struct BooleanSetting {
  const char* key;
  bool supported;
};

constexpr std::array<BooleanSetting, 14> kBooleans = {{{"alibi", false},
                                                       {"rope", true},
                                                       {"attention_layer_norm", false},
                                                       {"bias_for_layer_norm", false},
                                                       {"include_bias", false},
                                                       {"include_qkv_bias", false},
                                                       {"scale_logits", false},
                                                       {"input_emb_norm", false},
                                                       {"multi_query_attention", false},
                                                       {"attention_bias", false},
                                                       {"mlp_bias", false},
                                                       {"use_sliding_window", false},
                                                       {"use_mrope", false},
                                                       {"layer_norm_with_affine", true}}};

struct TextSetting {
  const char* key;
  const char* supported;
};

constexpr std::array<TextSetting, 4> kTexts = {{{"layer_norm_type", "rms"},
                                                {"activation_type", "silu"},
                                                {"hidden_act", "silu"},
                                                {"block_type", "llama"}}};

struct RefusedArchitecture {
  std::string_view name;
  const char* expected;
};

constexpr std::array<RefusedArchitecture, 1> kRefused = {
    {{"DiffusionGemmaForBlockDiffusion",
      "a model with a mask token, whose revealed tokens stay: DiffusionGemma has none, begins with random "
      "tokens and "
      "draws all that it did not accept anew at every step"}}};

}  // namespace

void refuse_unsupported_architecture(const JsonObject& config, std::string_view architecture) {
  for (const auto& refused : kRefused) {
    if (refused.name == architecture)
      throw_input_error(
          {config.name() + ": architectures", refused.expected, '"' + std::string(architecture) + '"'});
  }
}

void refuse_unsupported_settings(const JsonObject& config) {
  for (const auto& setting : kBooleans) {
    const auto value = config.boolean(setting.key);
    if (value && *value != setting.supported) config.fail(setting.key, setting.supported ? "true" : "false");
  }
  for (const auto& setting : kTexts) {
    const auto value = config.text(setting.key);
    if (value && *value != setting.supported)
      config.fail(setting.key, std::string("\"") + setting.supported + '"');
  }
  const auto group = config.integer("block_group_size");
  if (group && *group != 1) config.fail("block_group_size", "1");
  if (const Json* types = config.find("layer_types"); types != nullptr && types->is_array()) {
    for (const Json& type : *types) {
      if (type != "full_attention") config.fail("layer_types", "\"full_attention\" in every layer");
    }
  }
  if (config.has("clip_qkv")) config.fail("clip_qkv", "null: queries, keys and values as they are");
  if (config.has("quantization_config")) config.fail("quantization_config", "no quantised weights");
}

}  // namespace buoy
