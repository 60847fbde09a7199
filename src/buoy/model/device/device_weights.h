#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "buoy/checkpoint/config.h"
#include "buoy/model/weights.h"
#include "buoy/tensor/device_memory.h"

namespace buoy::model {

// Of a layer whose MLP is a mixture of experts.
struct DeviceMixtureWeights {
  // bf16 [parts * experts, hidden]: a router that is not stored in bf16 is the sum of two parts that are.
  const std::uint16_t* router = nullptr;
  std::int64_t parts = 1;
  const float* bias = nullptr;             // [experts]
  const std::uint16_t* gate_up = nullptr;  // [experts, 2 * width, hidden], in turn as below
  const std::uint16_t* down = nullptr;     // [experts, hidden, width]

  bool any() const { return router != nullptr; }
};

// Pointers into device memory; matrices are bf16, vectors float. What a family lacks is null. Queries and
// keys, their norms and biases are in the order of head_order.h.
struct DeviceLayerWeights {
  const float* attention_norm;         // [hidden]
  const float* mlp_norm;               // [hidden]
  const float* query_norm;             // [head_dim]
  const float* key_norm;               // [head_dim]
  const float* qkv_bias;               // [(heads + 2 kv_heads) * head_dim]
  const std::uint16_t* qkv;            // [(heads + 2 kv_heads) * head_dim, hidden]: queries, keys, values
  const std::uint16_t* attention_out;  // [hidden, heads * head_dim]
  std::int64_t mlp_width;              // of the MLP that every token takes; 0: there is none
  const std::uint16_t* gate_up;        // [2 * mlp_width, hidden]: gate and up, ops::kSwigluTurn rows in turn
  const std::uint16_t* down;           // [hidden, mlp_width]
  DeviceMixtureWeights mixture;
};

// Which of the optional vectors a model has.
struct OptionalWeights {
  bool qkv_bias = false;
  bool qk_norm = false;
  std::int64_t router_parts = 1;
};

// All weights of a model in one allocation on the device.
class DeviceWeights {
 public:
  // Copies from the mapped checkpoint through pinned memory, converting what is not bf16; throws UsageError
  // with the numbers when the card has too little free memory.
  static DeviceWeights load(const ModelConfig& config, const ModelWeights& weights);
  // Normal numbers of deviation 1/sqrt(inputs), norms of 1: for benchmarks.
  static DeviceWeights random(const ModelConfig& config, const OptionalWeights& optional, std::uint64_t seed);

  const std::uint16_t* embedding() const { return embedding_; }  // [vocabulary, hidden]
  const std::uint16_t* head() const { return head_; }            // [vocabulary, hidden]
  const float* final_norm() const { return final_norm_; }        // [hidden]
  const DeviceLayerWeights& layer(std::int64_t number) const { return layers_[static_cast<size_t>(number)]; }
  std::uint64_t bytes() const { return memory_.bytes(); }
  // The pinned memory that loading used, once, for another use.
  std::vector<PinnedMemory> take_staging() { return std::exchange(staging_, {}); }

 private:
  DeviceWeights(const ModelConfig& config, const OptionalWeights& optional);

  DeviceMemory memory_;
  const std::uint16_t* embedding_ = nullptr;
  const std::uint16_t* head_ = nullptr;
  const float* final_norm_ = nullptr;
  std::vector<DeviceLayerWeights> layers_;
  std::vector<PinnedMemory> staging_;
};

}  // namespace buoy::model
