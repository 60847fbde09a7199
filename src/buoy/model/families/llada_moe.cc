#include "buoy/model/family.h"

namespace buoy::model {

// Qwen3's attention without a causal mask; a softmax router whose weights are not divided by their sum. Row p
// of the logits is for position p.
FamilyTraits llada_moe_traits() {
  FamilyTraits traits = qwen3_moe_traits();
  traits.prediction_offset = 0;
  traits.mixture.bias = "mlp.expert_bias";
  traits.mixture.stacked_gate_up = traits.mixture.stacked_down = "";
  return traits;
}

}  // namespace buoy::model
