#include "buoy/model/family.h"

namespace buoy::model {

// Llama 3 and 3.1 (whose stretched frequencies are part of the config). The names are those of all
// transformers models here.
FamilyTraits llama_traits() {
  return {.qkv_bias = false,
          .prediction_offset = 1,
          .embedding = "model.embed_tokens.weight",
          .final_norm = "model.norm.weight",
          .head = "lm_head.weight",
          .layer_prefix = "model.layers.",
          .layer = {.attention_norm = "input_layernorm",
                    .query = "self_attn.q_proj",
                    .key = "self_attn.k_proj",
                    .value = "self_attn.v_proj",
                    .attention_out = "self_attn.o_proj",
                    .mlp_norm = "post_attention_layernorm",
                    .gate = "mlp.gate_proj",
                    .up = "mlp.up_proj",
                    .down = "mlp.down_proj",
                    .query_norm = "",
                    .key_norm = ""}};
}

}  // namespace buoy::model
