#pragma once

#include <cstdint>
#include <vector>

namespace buoy {

// How a mixture of experts chooses (ops/experts/experts.h says what they compute).
enum class RouterType { kSoftmax, kSigmoidGroups };

// Layers whose MLP is a mixture of experts, in whatever words the family says so.
struct ExpertConfig {
  RouterType router = RouterType::kSoftmax;
  std::int64_t count = 0;         // experts of a layer
  std::int64_t chosen = 0;        // of them for each token
  std::int64_t width = 0;         // of one expert
  std::int64_t shared_width = 0;  // of the expert that every token takes; 0: none
  bool renormalise = false;       // weights of the chosen ones are divided by their sum
  std::int64_t groups = 1, kept_groups = 1;
  double scale = 1;  // of the weights
  bool bias = false;
  std::vector<bool> dense;  // [layers]: those with a plain MLP, mlp_hidden wide
};

}  // namespace buoy
