#include "buoy/model/family.h"

namespace buoy::model {

// SDAR and TraDo: Qwen3's body, attended in blocks. Row p of the logits is for position p.
FamilyTraits sdar_traits() {
  FamilyTraits traits = qwen3_traits();
  traits.prediction_offset = 0;
  traits.compare_tied_head = true;
  return traits;
}

}  // namespace buoy::model
