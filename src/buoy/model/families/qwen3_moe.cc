#include "buoy/model/family.h"

namespace buoy::model {

// Qwen3's body with a softmax router in place of the MLP, in all layers but those that the config leaves
// dense.
FamilyTraits qwen3_moe_traits() {
  FamilyTraits traits = qwen3_traits();
  traits.mixture = {.router = "mlp.gate",
                    .bias = "",
                    .experts = "mlp.experts",
                    .gate = "gate_proj",
                    .up = "up_proj",
                    .down = "down_proj",
                    .stacked_gate_up = "mlp.experts.gate_up_proj",
                    .stacked_down = "mlp.experts.down_proj",
                    .shared_gate = "",
                    .shared_up = "",
                    .shared_down = ""};
  return traits;
}

}  // namespace buoy::model
