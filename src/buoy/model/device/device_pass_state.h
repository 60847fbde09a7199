#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "buoy/model/device/device_observer.h"
#include "buoy/model/device/device_pass.h"
#include "buoy/model/device/device_workspace.h"
#include "buoy/model/device/head_order.h"
#include "buoy/model/predictions.h"
#include "buoy/ops/attention/attention_cuda.h"
#include "buoy/ops/linear/linear_cuda.h"
#include "buoy/ops/pointwise/rope.h"
#include "buoy/ops/pointwise/rope_cuda.h"

namespace buoy::model {

// Of a plan. Every sequence brings its grid where a family may decode blocks: one block may hold all of it.
inline ops::MaskKind device_mask(const ModelConfig& config) {
  return may_decode_blocks(config.family) ? ops::MaskKind::kBlockCausal : attention_mask(config);
}

// Private to device_pass.cc (a pass from start to end) and device_layers.cc (what it queues).
struct DevicePass::State {
  State(const ModelConfig& model_config, DeviceWeights model_weights, int timed_candidates)
      : config(model_config),
        mask(device_mask(model_config)),
        weights(std::move(model_weights)),
        linear(timed_candidates),
        pool(std::make_shared<DeviceKvPool>(config.layers, config.kv_heads * config.head_dim)),
        rope(device_rope_frequencies(config)),
        rotary_scales(rotary_scales_of(config.rope)),
        observer(config, weights.take_staging()) {}

  // The parts of a pass, in order.
  void start(std::span<const SequenceInput> given, probe::Probe* probe);
  void run_layers(const Context& context);
  void prepare_layer(const Context& context, std::int64_t layer);
  void launch_layers(std::int64_t first, std::int64_t end, bool recordable);
  bool projects_early();
  void queue_beginning();
  void queue_layers(std::int64_t first, std::int64_t end);
  void queue_projection(std::int64_t layer);
  void queue_attention(std::int64_t layer);
  void queue_after_attention(std::int64_t layer);
  void queue_experts(std::int64_t layer);
  void queue_residual(std::int64_t layer, probe::ResidualPoint point);
  void queue_lens(std::int64_t layer);
  bool behind_last_use(std::int64_t layer);
  std::int64_t queue_chosen_rows(std::int64_t first, std::int64_t count);
  void queue_logits(std::int64_t first, std::int64_t count);
  void queue_choices(std::int64_t first, std::int64_t count, bool logits_needed);
  void queue_predictions();
  void finish(const Context& context);
  void hand_over_predictions();

  std::int64_t lane_of(std::int64_t layer) const;
  std::uint16_t* qkv_of(std::int64_t layer) const;
  // Keys in a cache get more from step to step. What is measured of them has room for so many more, so that
  // recorded layers can be replayed.
  std::int64_t key_step() const { return cached ? 256 : 1; }
  void grow(std::int64_t wanted);
  void make_plan();
  void set_sequences();
  void grow_rope();
  void grow_for(const LayerWants& wants);
  void upload();
  ops::DeviceAttentionInputs states(std::int64_t layer) const;
  ops::DeviceRopeTable rope_table() const;
  ops::DeviceQkvArgs qkv_args(std::int64_t layer) const;
  ops::DeviceLinearArgs head(std::int64_t rows) const;
  // What the flag is lowered to by numbers that are not finite: the number of a layer, or one of these.
  std::int32_t not_finite_logits() const { return static_cast<std::int32_t>(config.layers); }
  std::int32_t not_finite_lens() const { return not_finite_logits() + 1; }
  std::int32_t not_finite_router(std::int64_t layer) const {
    return not_finite_lens() + 1 + static_cast<std::int32_t>(layer);
  }
  ops::DeviceLinearArgs projection(std::int64_t layer, const ops::DeviceQkvArgs& qkv) const;

  ModelConfig config;
  ops::MaskKind mask;
  DeviceWeights weights;
  Stream stream{Stream::Priority::kUrgent};
  ops::DeviceLinear linear;
  DeviceWorkspace work;
  std::shared_ptr<DeviceKvPool> pool;
  ops::RopeTable rope;
  ops::RotaryScales rotary_scales;
  std::int64_t rope_positions = 0;
  DeviceMemory rope_memory;  // cosines, then sines, then what queries are multiplied by, if anything
  ops::PlanLimits limits;
  std::optional<ops::AttentionPlan> plan;
  mutable DeviceObserver observer;  // it asks about layers when somebody wants to know
  PinnedMemory staging, host_logits, host_choices, host_flag;
  DeviceMemory predicted;  // as PredictionRoom divides it
  PinnedMemory host_predicted;

  // Of the pass at hand.
  std::int64_t first_together = 0;  // of the layers that are launched together
  std::vector<SequenceInput> inputs;
  probe::Probe* asking = nullptr;  // may be none
  std::optional<Predictions> predictions;
  std::vector<KvCache> lent;  // for sequences without a cache beside others that have one
  std::optional<PackedBatch> batch;
  bool cached = false;
  bool unfinished = false;  // stays true when a probe throws

  const std::uint16_t* pool_place = nullptr;  // of the cached keys when the graphs were recorded

  std::vector<ops::PackedSequence> planned;  // what the plan was told last
  // Stretches of layers by their shape: seen once, then recorded.
  std::map<std::vector<std::int64_t>, std::optional<Graph>> graphs;
};

}  // namespace buoy::model
