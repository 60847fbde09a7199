#include "buoy/model/family.h"

namespace buoy::model {

// Qwen2's body, bidirectional. It was initialised from Qwen2.5 and keeps its habit: row p of the logits
// predicts token p + 1, and the sampler shifts.
FamilyTraits dream_traits() {
  FamilyTraits traits = qwen2_traits();
  traits.mask = ops::MaskKind::kBidirectional;
  return traits;
}

}  // namespace buoy::model
