#include "buoy/model/family.h"

namespace buoy::model {

// dllm's children of Qwen3 and Qwen2.5: the parent's body without the causal mask. Row p of the logits is for
// position p. dllm stores the head although the parent ties it.
FamilyTraits a2d_qwen3_traits() {
  FamilyTraits traits = qwen3_traits();
  traits.prediction_offset = 0;
  traits.compare_tied_head = true;
  return traits;
}

FamilyTraits a2d_qwen2_traits() {
  FamilyTraits traits = qwen2_traits();
  traits.prediction_offset = 0;
  traits.compare_tied_head = true;
  return traits;
}

}  // namespace buoy::model
