#include "buoy/model/family.h"

namespace buoy::model {

// Qwen3-MoE's body without a causal mask. Row p of the logits is for position p + 1, as the parent has it.
FamilyTraits rnd1_traits() {
  return qwen3_moe_traits();
}

}  // namespace buoy::model
