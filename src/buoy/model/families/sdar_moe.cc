#include "buoy/model/family.h"

namespace buoy::model {

// Qwen3-MoE's body, attended in blocks. Row p of the logits is for position p.
FamilyTraits sdar_moe_traits() {
  FamilyTraits traits = qwen3_moe_traits();
  traits.prediction_offset = 0;
  return traits;
}

}  // namespace buoy::model
