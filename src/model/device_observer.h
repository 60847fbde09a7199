#pragma once

#include <array>
#include <span>
#include <vector>

#include "model/layer_wants.h"
#include "ops/attention_cuda.h"
#include "ops/rope_cuda.h"
#include "tensor/context.h"
#include "tensor/device_memory.h"

namespace buoy::model {

// Queries, keys and values of the layer at hand on the device.
struct DeviceStates {
  ops::CudaAttentionInputs rotated;
  ops::CudaAttentionInputs unrotated;  // null pointers unless somebody wants qk_before
};

// The observed side of a pass. Requests of all layers are gathered before it; each layer's results go into
// one of a few buffers and from there to the host while the next layers run; records are delivered in layer
// order.
class DeviceObserver {
 public:
  explicit DeviceObserver(const ModelConfig& config, ops::MaskKind mask) : config_(config), mask_(mask) {}

  // Asks about one layer after the other until something is wanted; the rest is asked when its turn comes.
  void start(const PackedBatch& batch, probe::Probe* probe);
  bool watching() const { return !wants_.empty(); }
  const LayerWants& wants(std::int64_t layer);
  void forget_plan() { in_plan_ = nullptr; }  // it was made anew

  // Before the layer's attention: groups and rows into the plan, bias and scale onto the device. Fills the
  // inputs' interventions and says where entropy and log-sum-exp go.
  void begin_layer(const Context& context, const Stream& stream, std::int64_t layer, ops::AttentionPlan& plan,
                   ops::CudaAttentionInputs& inputs, ops::CudaAttentionOutputs& outputs);
  // After it: queues the measurements and their way to the host, beside the rest of the layer. `attended` is
  // scaled where a batch holds sequences with different factors.
  void end_layer(const Stream& stream, std::int64_t layer, ops::AttentionPlan& plan,
                 const DeviceStates& states, std::uint16_t* attended);
  // The stream waits here, before the next layer's queries and keys take the place of those being measured.
  void wait_measured(const Stream& stream);
  // After the last layer: delivers what is still on its way.
  void finish(const Context& context);

  std::uint64_t device_bytes() const;

 private:
  static constexpr size_t kSlots = 3;

  // One layer's results on their way.
  struct Slot {
    DeviceMemory device;
    PinnedMemory host;
    Event arrived;
    std::int64_t layer = -1;  // -1: free
    ObservationLayout layout;
    std::vector<std::vector<float>> queries, keys, values;  // of each sequence, where asked for
  };

  void ask_next_layer();
  void upload_interventions(const Stream& stream, const LayerWants& wants, ops::CudaAttentionInputs& inputs);
  void fetch_states(const Stream& stream, Slot& slot, const LayerWants& wants, const DeviceStates& states);
  void deliver(const Context& context, Slot& slot);
  probe::LayerRecord record(const Context& context, const Slot& slot, const LayerWants& wants,
                            size_t sequence) const;

  const ModelConfig& config_;
  ops::MaskKind mask_;
  const PackedBatch* batch_ = nullptr;
  probe::Probe* probe_ = nullptr;
  std::vector<LayerWants> wants_;                       // one per layer while somebody watches
  std::vector<std::int64_t> key_rows_, first_columns_;  // of each sequence
  std::int64_t columns_ = 0, longest_keys_ = 0;
  const LayerWants* in_plan_ = nullptr;  // whose groups and rows the plan holds
  std::array<Slot, kSlots> slots_;       // taken in turn
  size_t turn_ = 0;                      // of the layer at hand
  Stream measuring_, copies_;
  Event attended_, measured_;  // of the layer at hand
  bool measuring_now_ = false;
  DeviceMemory bias_, scale_, widened_;
};

}  // namespace buoy::model
