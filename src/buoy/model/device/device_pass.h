#pragma once

#include <memory>
#include <span>
#include <string>

#include "buoy/model/device/device_weights.h"
#include "buoy/model/family.h"
#include "buoy/model/packed_batch.h"
#include "buoy/ops/sampling/choice.h"
#include "buoy/probe/probe.h"
#include "buoy/tensor/context.h"

namespace buoy::ops {
enum class LinearChoice;
}

namespace buoy::model {

// Thrown by a pass that met a NaN or an infinity; `where` is "the logits", "the logits of the lens" or "the
// queries or keys of layer 3".
struct NonFinite {
  std::string where;
};

// The forward pass on a device: bf16 weights and activations, float32 sums and residual stream. Everything it
// needs is allocated when a larger batch than ever before arrives; other passes allocate nothing. A pass over
// the same sequence lengths as an earlier one is replayed as a graph.
class DevicePass {
 public:
  // `timed_candidates`: see ops::DeviceLinear.
  DevicePass(const ModelConfig& config, DeviceWeights weights, int timed_candidates = 0);
  ~DevicePass();

  // [sum of logit rows, vocabulary] in host memory, valid until the next call.
  const float* logits(const Context& context, std::span<const SequenceInput> sequences, probe::Probe* probe);
  // One choice for each logit row, made on the device by the rule of that row; valid until the next call.
  std::span<const ops::RowChoice> choices(const Context& context, std::span<const SequenceInput> sequences,
                                          std::span<const ops::ChoiceRule> rules, probe::Probe* probe);

  // By shape until somebody says otherwise, for a test: before the first pass.
  void choose_products(ops::LinearChoice choice);

  KvCache new_cache() const;
  std::uint64_t weight_bytes() const;
  std::uint64_t workspace_bytes() const;  // on the device, beside the weights and caches

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace buoy::model
