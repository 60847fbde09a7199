#pragma once

#include <vector>

#include "buoy/checkpoint/checkpoint.h"
#include "buoy/model/family.h"
#include "buoy/ops/experts/experts.h"
#include "buoy/tensor/weight.h"

namespace buoy::model {

// Of a layer whose MLP is a mixture of experts.
struct MixtureWeights {
  Weight router;                            // [experts, hidden]
  std::vector<float> bias;                  // [experts] or empty
  std::vector<ops::ExpertWeights> experts;  // empty: the layer is dense

  bool any() const { return !experts.empty(); }
};

// Matrices stay in their stored type inside the mapped file; vectors are small and kept as float.
struct LayerWeights {
  std::vector<float> attention_norm, mlp_norm;          // [hidden]
  std::vector<float> query_norm, key_norm;              // [head_dim] or empty
  std::vector<float> query_bias, key_bias, value_bias;  // [heads * head_dim] or empty
  Weight query, key, value, attention_out;
  Weight gate, up, down;  // of the MLP; beside experts, of the one that every token takes, or empty
  MixtureWeights mixture;
};

struct ModelWeights {
  Weight embedding;               // [vocabulary, hidden]
  Weight head;                    // [vocabulary, hidden]; the embedding when tied
  std::vector<float> final_norm;  // [hidden]
  std::vector<LayerWeights> layers;
};

// Finds every tensor with its exact shape and refuses a checkpoint with too few or too many.
ModelWeights load_weights(Checkpoint& checkpoint, const FamilyTraits& traits);

}  // namespace buoy::model
