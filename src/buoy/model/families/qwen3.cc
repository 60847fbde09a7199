#include "buoy/model/family.h"

namespace buoy::model {

// Llama with an RMSNorm over each head of q and k, before the rotation.
FamilyTraits qwen3_traits() {
  FamilyTraits traits = llama_traits();
  traits.layer.query_norm = "self_attn.q_norm";
  traits.layer.key_norm = "self_attn.k_norm";
  return traits;
}

}  // namespace buoy::model
