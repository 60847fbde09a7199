#include "buoy/model/family.h"

namespace buoy::model {

// Nemotron-Labs-Diffusion: Llama's body under names of its own, with YaRN and queries that grow with their
// position (both part of the config). One head serves both readings: row p of the logits is for position p of
// a block, and of a causal forward for position p + 1. What is asked about predictions of masks counts by the
// first.
FamilyTraits nemotron_traits() {
  FamilyTraits traits = llama_traits();
  traits.prediction_offset = 0;
  traits.embedding = "encoder.embed_tokens.weight";
  traits.final_norm = "encoder.norm.weight";
  traits.head = "diffusion_head.weight";
  traits.layer_prefix = "encoder.layers.";
  return traits;
}

}  // namespace buoy::model
