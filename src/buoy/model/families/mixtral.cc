#include "buoy/model/family.h"

namespace buoy::model {

// Llama's attention and a softmax router; w1 is the gate, w3 goes up, w2 comes down.
FamilyTraits mixtral_traits() {
  FamilyTraits traits = llama_traits();
  traits.mixture = {.router = "block_sparse_moe.gate",
                    .bias = "",
                    .experts = "block_sparse_moe.experts",
                    .gate = "w1",
                    .up = "w3",
                    .down = "w2",
                    .stacked_gate_up = "",
                    .stacked_down = "",
                    .shared_gate = "",
                    .shared_up = "",
                    .shared_down = ""};
  return traits;
}

}  // namespace buoy::model
