#include "buoy/model/family.h"

namespace buoy::model {

// Qwen2's body with a full mask. It was initialised from Qwen2.5 and keeps its habit: row p of the logits
// predicts token p + 1, and the sampler shifts.
FamilyTraits dream_traits() {
  return qwen2_traits();
}

}  // namespace buoy::model
