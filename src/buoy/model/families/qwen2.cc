#include "buoy/model/family.h"

namespace buoy::model {

// Qwen2 and Qwen2.5: Llama with biases on q, k and v, which no config key announces.
FamilyTraits qwen2_traits() {
  FamilyTraits traits = llama_traits();
  traits.qkv_bias = true;
  return traits;
}

}  // namespace buoy::model
