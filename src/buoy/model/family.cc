#include "buoy/model/family.h"

#include "buoy/base/error.h"
#include "buoy/ops/pointwise/rope.h"

namespace buoy::model {

FamilyTraits traits_of(Family family) {
  switch (family) {
    case Family::kLlada:
      return llada_traits();
    case Family::kDream:
      return dream_traits();
    case Family::kLlama:
      return llama_traits();
    case Family::kQwen2:
      return qwen2_traits();
    case Family::kQwen3:
      return qwen3_traits();
    case Family::kA2dQwen3:
      return a2d_qwen3_traits();
    case Family::kA2dQwen2:
      return a2d_qwen2_traits();
    case Family::kSdar:
      return sdar_traits();
    case Family::kFastDllm:
      return fast_dllm_traits();
    case Family::kNemotron:
      return nemotron_traits();
    case Family::kQwen3Moe:
      return qwen3_moe_traits();
    case Family::kMixtral:
      return mixtral_traits();
    case Family::kLladaMoe:
      return llada_moe_traits();
    case Family::kSdarMoe:
      return sdar_moe_traits();
    case Family::kRnd1:
      return rnd1_traits();
    case Family::kLlada2:
      return llada2_traits();
  }
  throw InternalError("a family without traits");
}

ops::MaskKind attention_mask(const ModelConfig& config) {
  switch (mask_of(config)) {
    case AttentionMaskKind::kCausal:
      return ops::MaskKind::kCausal;
    case AttentionMaskKind::kPrefix:
      return ops::MaskKind::kPrefix;
    case AttentionMaskKind::kFull:
      return ops::MaskKind::kBidirectional;
    case AttentionMaskKind::kBlocks:
      return ops::MaskKind::kBlockCausal;
  }
  throw InternalError("a mask without a kind");
}

ops::RouterRule router_rule_of(const ExpertConfig& experts) {
  ops::RouterRule rule;
  if (experts.router == RouterType::kSigmoidGroups) rule.kind = ops::RouterKind::kSigmoidGroups;
  rule.experts = experts.count;
  rule.chosen = experts.chosen;
  rule.renormalise = experts.renormalise;
  rule.groups = experts.groups;
  rule.kept_groups = experts.kept_groups;
  rule.scale = experts.scale;
  return rule;
}

std::vector<double> rope_frequencies_of(const RopeConfig& config) {
  if (const auto& y = config.yarn) {
    return ops::yarn_frequencies(config.theta, config.rotary_dim,
                                 {y->factor, y->original_context, y->beta_fast, y->beta_slow});
  }
  std::optional<ops::RopeScaling> scaling;
  if (config.scaling) {
    const auto& s = *config.scaling;
    scaling = ops::RopeScaling{s.factor, s.low_freq_factor, s.high_freq_factor, s.original_context};
  }
  return ops::rope_frequencies(config.theta, config.rotary_dim, scaling);
}

ops::RotaryScales rotary_scales_of(const RopeConfig& config) {
  if (!config.yarn) return {};
  const YarnRopeScaling& y = *config.yarn;
  return {y.attention_factor.value_or(ops::yarn_attention_factor(y.factor, y.mscale, y.mscale_all_dim)),
          y.query_beta, y.original_context};
}

}  // namespace buoy::model
