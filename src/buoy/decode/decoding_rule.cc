#include "buoy/decode/decoding_rule.h"

#include <fmt/format.h>

#include "buoy/base/error.h"
#include "buoy/base/field_name.h"
#include "buoy/model/family.h"

namespace buoy::decode {

std::vector<DecodingRule> decoding_rules(Family family) {
  switch (family) {
    case Family::kA2dQwen3:
    case Family::kA2dQwen2:
      return {{"mdlm", kLlada}, {"bd3lm", kBd3lm}};
    case Family::kNemotron:
      return {{"diffusion", kNemotron, true}, {"autoregressive", kAutoregressive}};
    case Family::kLlada2:
      return {{"llada2", kLlada2}, {"llada21", kLlada21}};
    case Family::kQwen2:
      return {{"autoregressive", kAutoregressive, true}, {"open_dcoder", kOpenDcoder}};
    default:
      return {};
  }
}

std::optional<std::string> default_rule(Family family) {
  for (const auto& rule : decoding_rules(family)) {
    if (rule.by_default) return std::string(rule.name);
  }
  return std::nullopt;
}

Loops loop_of(const ModelConfig& config, const DecodeOptions& options) {
  const auto rules = decoding_rules(config.family);
  if (rules.empty()) return loops_of(config.family);
  const auto asked = options.decoding_rule ? options.decoding_rule : default_rule(config.family);
  std::string known;
  for (const auto& rule : rules) {
    if (asked == rule.name) return rule.loop;
    known += fmt::format("{}{}", known.empty() ? "" : " or ", rule.name);
  }
  throw_usage_error(
      {field_name("decoding_rule"),
       fmt::format("{}, whichever the model was trained for: its config.json does not say", known),
       options.decoding_rule ? '"' + *options.decoding_rule + '"' : "none"});
}

bool decodes_masks(const ModelConfig& config, const DecodeOptions& options) {
  return (loops_of(config.family, options) & kAutoregressive) == 0;
}

bool decodes_blocks(const ModelConfig& config, const DecodeOptions& options) {
  return (loop_of(config, options) & kBlocks) != 0;
}

AttentionMaskKind mask_of(const ModelConfig& config, const DecodeOptions& options) {
  const Loops loops = loops_of(config.family, options) & kAll;
  return loops == kOpenDcoder ? AttentionMaskKind::kFull : buoy::mask_of(config);
}

std::int64_t prediction_offset(const ModelConfig& config, const DecodeOptions& options) {
  const Loops loops = loops_of(config.family, options) & kAll;
  if (loops == kAutoregressive || loops == kOpenDcoder) return 1;
  if (loops == kBd3lm && options.shifted_rows) return 1;
  return model::traits_of(config.family).prediction_offset;
}

}  // namespace buoy::decode
