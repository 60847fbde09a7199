#include "buoy/model/family.h"

namespace buoy::model {

// Logits at the same position. Two traps in the names: ff_proj is the gate, and ff_out is
// the down projection inside a block but the head at the top level.
FamilyTraits llada_traits() {
  return {.qkv_bias = false,
          .prediction_offset = 0,
          .embedding = "model.transformer.wte.weight",
          .final_norm = "model.transformer.ln_f.weight",
          .head = "model.transformer.ff_out.weight",
          .layer_prefix = "model.transformer.blocks.",
          .layer = {.attention_norm = "attn_norm",
                    .query = "q_proj",
                    .key = "k_proj",
                    .value = "v_proj",
                    .attention_out = "attn_out",
                    .mlp_norm = "ff_norm",
                    .gate = "ff_proj",
                    .up = "up_proj",
                    .down = "ff_out",
                    .query_norm = "",
                    .key_norm = ""}};
}

}  // namespace buoy::model
