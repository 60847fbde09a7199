#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "buoy/model/device/device_record.h"
#include "buoy/model/layer_wants.h"
#include "buoy/ops/attention/attention_cuda.h"
#include "buoy/ops/attention/set_masses_cuda.h"
#include "buoy/ops/moments/qk_moments_cuda.h"
#include "buoy/tensor/context.h"
#include "buoy/tensor/device_memory.h"

namespace buoy::model {

// Queries, keys and values of the layer at hand on the device.
struct DeviceStates {
  ops::DeviceAttentionInputs rotated;
  ops::DeviceRopeTable rope;  // the angles they were rotated by
};

// The observed side of a pass. Each layer's results go into one of a few buffers and from there to the host
// while the next layers run; records are delivered in layer order, or handed over before they have arrived to
// a probe that takes them later.
//
// Of every layer, in this order: prepare() while nothing is recorded, attach() and measure() as part of the
// layer's work, which may be recorded as a graph and launched later, send() after that. Of few rows a kernel
// measures so little that it mostly waits: one measures several layers, in measure_waiting().
class DeviceObserver {
 public:
  // `pinned`: memory that results may arrive in.
  DeviceObserver(const ModelConfig& config, std::vector<PinnedMemory> pinned)
      : config_(config),
        host_buffers_(
            std::make_shared<HostBuffers>(3 * kMostAtOnce + 12, std::size_t{256} << 20, std::move(pinned))) {}

  // Asks about one layer after the other until something is wanted; the rest is asked when its turn comes.
  // Of a sequence, keys are measured in columns: as many, rounded up to a multiple of `key_step`.
  void start(const PackedBatch& batch, probe::Probe* probe, std::int64_t key_step);
  bool watching() const { return !wants_.empty(); }
  const LayerWants& wants(std::int64_t layer);
  void forget_plan() { planned_.reset(); }  // it was made anew

  // How many layers may be prepared before the first of them is queued.
  std::int64_t layers_at_once() const { return layers_at_once_; }
  // Whether `layer` may be prepared before the one in front of it is queued.
  bool joins_previous(std::int64_t layer);
  // Whether its work consists of launches alone.
  bool recordable(std::int64_t layer);
  // Whether it is measured behind the layers that are launched with it. Its queries must stay until then.
  bool waits(std::int64_t layer);
  static constexpr std::int64_t kMostRowsThatWait = 64, kMostAtOnce = 12;
  // Whether who looks on takes records when they have arrived.
  bool taken_later() const { return probe_ != nullptr && probe_->takes_later(); }
  std::int64_t buffers() const { return 3 * layers_at_once_; }  // that layers take in turn

  // A free buffer for the results (what was in it is delivered), groups and rows in the plan, bias and scale
  // on the device. True when the buffer moved.
  bool prepare(const Context& context, const Stream& stream, std::int64_t layer, ops::AttentionPlan& plan);
  // Fills the inputs' changes and says where entropy and log-sum-exp go and which moments will be
  // wanted.
  void attach(std::int64_t layer, DeviceStates& states, ops::DeviceAttentionOutputs& outputs);
  // After the attention: queues the measurements, beside the rest of the layer. `attended` is scaled where a
  // batch holds sequences with different factors.
  void measure(const Stream& stream, std::int64_t layer, ops::AttentionPlan& plan, const DeviceStates& states,
               std::uint16_t* attended);
  // Behind the last of the layers that are launched together; the stream goes on when all are measured.
  void measure_waiting(const Stream& stream, ops::AttentionPlan& plan);
  // The residual stream [rows, hidden] at a point of the layer: what was asked for is gathered, changes are
  // made.
  void pass_residual(const Stream& stream, std::int64_t layer, probe::ResidualPoint point, float* hidden);
  // What the heads of the chosen rows hand on, from bf16 [rows, heads * head_dim].
  void gather_heads(const Stream& stream, std::int64_t layer, const std::uint16_t* attended);
  // Whether no sequence of the batch wants the layer's MLP.
  bool leaves_out_mlp(std::int64_t layer);
  // Factors on the inputs of the MLP's last product, bf16 [rows, width]: it has no bias.
  void scale_mlp(const Stream& stream, std::int64_t layer, std::uint16_t* activated, std::int64_t width);
  // The same on the weights of experts, [rows, chosen]: the given ones, or scaled ones in `room`.
  const float* scaled_routing(const Stream& stream, std::int64_t layer, const float* weights, float* room);
  // Where a layer's router leaves what it decides, if somebody wants to know.
  struct Routing {
    std::int32_t* experts;  // [rows, chosen]
    float* weights;         // [rows, chosen]
    float* entropy;         // [rows]
  };
  std::optional<Routing> routing(std::int64_t layer);
  // Where the lens of a layer works and leaves its results; no rows: it is not asked for.
  struct Lens {
    const std::int32_t* chosen = nullptr;  // device, padded behind the last row
    std::int64_t rows = 0, top = 0;
    std::uint16_t* normed = nullptr;  // [kLensRows, hidden]
    float* logits = nullptr;          // [kLensRows, vocabulary]
    std::int32_t* tokens = nullptr;   // [rows, top]
    float* probabilities = nullptr;   // [rows, top]
  };
  static constexpr std::int64_t kLensRows = 64;  // at a time
  Lens lens(std::int64_t layer);

  // The stream waits here, before the next layer's queries and keys take the place of those being measured.
  void wait_measured(const Stream& stream);
  // Queues the way of these layers' results to the host, behind what the stream has queued.
  void send(const Stream& stream, std::int64_t first, std::int64_t end);
  // After the last layer: delivers what is still on its way.
  void finish(const Context& context);

  std::uint64_t device_bytes() const;

 private:
  // One layer's results on their way.
  struct Slot {
    DeviceMemory device;
    std::shared_ptr<const Event> copied;  // from it; none: nothing was
    std::shared_ptr<HostBuffer> host;     // of results that are delivered by this thread
    std::int64_t layer = -1;              // -1: free, or handed over already
    ObservationLayout layout, arriving;   // on the device, and on the host: without columns beyond the keys
    std::vector<std::vector<float>> queries, keys, values;  // of each sequence, where asked for
  };

  // Whose groups and rows the plan holds.
  struct Planned {
    std::int64_t groups;
    std::vector<std::uint8_t> group_of_row;
    std::vector<std::int32_t> close_rows;
    std::vector<std::shared_ptr<const KeySets>> key_sets;
  };

  Slot& slot(std::int64_t layer) { return slots_[static_cast<size_t>(layer % buffers())]; }
  void ask_next_layer();
  void choose_layers_at_once();
  bool in_plan(const LayerWants& wants) const;
  void upload_changes(const Stream& stream, const LayerWants& wants);
  void upload_residual_changes(const Stream& stream, const LayerWants& wants);
  bool prepare_residual(const Stream& stream, const LayerWants& wants);
  bool streams_in_place(const LayerWants& wants) const {
    return !wants.reads_residual() || placed_rows_ == wants.stream_rows;
  }
  struct Measured {
    ops::DeviceQkMoments moments;
    ops::DeviceAttentionStatistics statistics;
  };
  // Where what is measured of a layer's attention goes.
  Measured statistics_of(std::int64_t layer, const DeviceStates& states);
  void measure_attention(const Stream& stream, std::int64_t layer, ops::AttentionPlan& plan,
                         const DeviceStates& states);
  // The sums over sets of keys, from what was measured.
  void measure_masses(const Stream& stream, std::int64_t layer);
  bool columns_are_keys() const { return key_rows_.size() > 1 || columns_ == key_rows_[0]; }
  void copy_results(const Slot& slot, float* to, std::vector<HostWrite>& small);
  std::shared_ptr<Event> free_arrival();
  void hand_over(std::int64_t layer, std::shared_ptr<HostBuffer> buffer);
  void measure_heads(std::int64_t layer, const DeviceStates& states, const std::uint16_t* attended);
  void measure_drift(size_t sequence, std::int64_t layer, const ops::DeviceAttentionInputs& states);
  ops::DeviceQkColumns columns_at(float* first) const;
  void measure_followed(const LayerWants& wanted, float* received, const DeviceStates& states,
                        ops::AttentionPlan& plan);
  ops::DeviceQkMoments moments_of(std::int64_t layer, const DeviceStates& states);
  void fetch_states(const Stream& stream, Slot& slot, const LayerWants& wants, const DeviceStates& states);
  void deliver_until(const Context& context, std::int64_t layer);
  RecordPlace place_of(const Slot& slot, const LayerWants& wants, size_t sequence) const;
  void fill_record(const Context& context, const Slot& slot, const LayerWants& wants, size_t sequence);
  void form_dense(const Context& context, const Slot& slot, const LayerWants& wants, size_t sequence);

  const ModelConfig& config_;
  const PackedBatch* batch_ = nullptr;
  probe::Probe* probe_ = nullptr;
  std::vector<LayerWants> wants_;                       // of the layers asked about while somebody watches
  std::vector<std::int64_t> key_rows_, first_columns_;  // of each sequence
  std::int64_t columns_ = 0, longest_keys_ = 0;
  std::optional<Planned> planned_;
  std::int64_t layers_at_once_ = 1, delivered_ = 0;
  std::array<Slot, 3 * kMostAtOnce> slots_;
  std::shared_ptr<HostBuffers> host_buffers_;
  Stream measuring_, copies_;
  Event attended_, measured_;  // of the layer at hand
  struct Waiting {
    std::int64_t layer;
    DeviceStates states;
  };
  std::vector<Waiting> waiting_;
  Event queued_, written_;
  std::vector<std::shared_ptr<Event>> arrivals_;  // used again when nobody else holds them
  ops::DeviceQkMoments moments_;                  // likewise
  bool measuring_now_ = false;
  DeviceMemory bias_, scale_, widened_;
  // A vector for rows of the packed batch, of the layer at hand.
  struct PlacedChange {
    probe::ResidualPoint at;
    bool replace, alike;
    std::int64_t first_row, count, first_value;
  };
  std::vector<PlacedChange> placed_changes_;
  std::vector<std::int32_t> placed_rows_;  // those that stream_rows_ holds
  DeviceMemory stream_rows_, change_rows_, change_values_, mlp_scale_, lens_normed_, lens_logits_;
  ops::DeviceKeySets key_sets_;
  probe::LayerRecord record_;  // what a probe leaves in it is used again
};

}  // namespace buoy::model
