#include "buoy/model/family.h"

namespace buoy::model {

// Fast-dLLM v2: Qwen2.5's body, attended in blocks. Row p of the logits predicts token p + 1, inside a block
// too.
FamilyTraits fast_dllm_traits() {
  FamilyTraits traits = qwen2_traits();
  traits.compare_tied_head = true;
  return traits;
}

}  // namespace buoy::model
