#include "buoy/model/family.h"

namespace buoy::model {

// LLaDA2.0 and 2.1, after Ling 2: queries, keys and values in one tensor, half of a head rotates, a sigmoid
// router over groups, a shared expert. Attended in blocks; row p of the logits is for position p.
FamilyTraits llada2_traits() {
  return {.qkv_bias = false,
          .prediction_offset = 0,
          .embedding = "model.word_embeddings.weight",
          .final_norm = "model.norm.weight",
          .head = "lm_head.weight",
          .layer_prefix = "model.layers.",
          .layer = {.attention_norm = "input_layernorm",
                    .query = "",
                    .key = "",
                    .value = "",
                    .attention_out = "attention.dense",
                    .mlp_norm = "post_attention_layernorm",
                    .gate = "mlp.gate_proj",
                    .up = "mlp.up_proj",
                    .down = "mlp.down_proj",
                    .query_norm = "attention.query_layernorm",
                    .key_norm = "attention.key_layernorm",
                    .fused_qkv = "attention.query_key_value"},
          .mixture = {.router = "mlp.gate",
                      .bias = "mlp.gate.expert_bias",
                      .experts = "mlp.experts",
                      .gate = "gate_proj",
                      .up = "up_proj",
                      .down = "down_proj",
                      .stacked_gate_up = "",
                      .stacked_down = "",
                      .shared_gate = "mlp.shared_experts.gate_proj",
                      .shared_up = "mlp.shared_experts.up_proj",
                      .shared_down = "mlp.shared_experts.down_proj"}};
}

}  // namespace buoy::model
