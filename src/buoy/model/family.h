#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "buoy/checkpoint/config.h"
#include "buoy/ops/attention/attention.h"
#include "buoy/ops/experts/experts.h"
#include "buoy/ops/pointwise/yarn.h"

namespace buoy::model {

// Names of one layer's tensors, without the layer's prefix.
struct LayerNames {
  std::string attention_norm, query, key, value, attention_out, mlp_norm, gate, up, down;
  std::string query_norm, key_norm;  // empty when the family has none
  std::string fused_qkv = {};        // one tensor, queries before keys before values; else empty
};

// Names of a mixture of experts, without the layer's prefix. Those of one expert follow its number.
struct ExpertNames {
  std::string router, bias;     // the bias in full
  std::string experts;          // followed by the expert's number and a dot
  std::string gate, up, down;   // of one expert
  std::string stacked_gate_up;  // [experts, 2 * width, hidden], gates first, in full; empty: no such layout
  std::string stacked_down;     // [experts, hidden, width]
  std::string shared_gate, shared_up, shared_down;
};

// Everything in which the families differ. The pass itself is the same for all (model.cc).
struct FamilyTraits {
  bool qkv_bias;
  // A tied head that is stored all the same must equal the embedding: else the file and its config disagree.
  bool compare_tied_head = false;
  // Row p of the logits predicts token p + prediction_offset.
  std::int64_t prediction_offset;
  std::string embedding, final_norm, head;
  std::string layer_prefix;  // followed by the layer's number and a dot
  LayerNames layer;
  ExpertNames mixture = {};  // of families with experts
};

FamilyTraits llada_traits();
FamilyTraits dream_traits();
FamilyTraits llama_traits();
FamilyTraits qwen2_traits();
FamilyTraits qwen3_traits();
FamilyTraits a2d_qwen3_traits();
FamilyTraits a2d_qwen2_traits();
FamilyTraits sdar_traits();
FamilyTraits fast_dllm_traits();
FamilyTraits nemotron_traits();
FamilyTraits qwen3_moe_traits();
FamilyTraits mixtral_traits();
FamilyTraits llada_moe_traits();
FamilyTraits sdar_moe_traits();
FamilyTraits rnd1_traits();
FamilyTraits llada2_traits();

FamilyTraits traits_of(Family family);

// The mask is no trait: a config may state its own (mask_of in config.h).
ops::MaskKind attention_mask(const ModelConfig& config);

// How the config's routers choose.
ops::RouterRule router_rule_of(const ExpertConfig& experts);

std::vector<double> rope_frequencies_of(const RopeConfig& config);
ops::RotaryScales rotary_scales_of(const RopeConfig& config);

}  // namespace buoy::model
