#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "buoy/checkpoint/checkpoint.h"
#include "buoy/model/family.h"
#include "buoy/model/kv_cache.h"
#include "buoy/model/observation.h"
#include "buoy/model/packed_batch.h"
#include "buoy/model/residual_stream.h"
#include "buoy/model/untrained.h"
#include "buoy/model/weights.h"
#include "buoy/ops/experts/experts.h"
#include "buoy/ops/linear/linear.h"
#include "buoy/ops/pointwise/rope.h"
#include "buoy/ops/sampling/choice.h"
#include "buoy/probe/probe.h"
#include "buoy/tensor/buffer.h"
#include "buoy/tensor/context.h"
#include "buoy/tensor/device.h"

namespace buoy::model {

class DevicePass;
class Predictions;
struct PredictedLogits;

// A loaded checkpoint that can be run. Not for use by two threads at once: each takes a sibling.
class Model {
 public:
  // On a GPU the weights are copied there, as bf16 whatever they are stored as.
  static Model load(const std::filesystem::path& folder, Device device = Device::kCpu);
  // The network that a folder's config.json describes before any training: initial weights by `seed`, made in
  // memory. No file of weights is read, and none need be there.
  static Model untrained(const std::filesystem::path& folder, std::uint64_t seed,
                         Device device = Device::kCpu);
  ~Model();
  Model(Model&&) noexcept;

  // Another one with the same weights, for another thread. On the CPU alone: a device runs one pass at a
  // time.
  Model sibling() const;

  const ModelConfig& config() const { return loaded_->checkpoint.config(); }
  const FamilyTraits& traits() const { return loaded_->traits; }
  const Checkpoint& checkpoint() const { return loaded_->checkpoint; }
  // As the host holds them; the card alone has those of an untrained network on a device.
  const ModelWeights& weights() const { return loaded_->weights; }
  // How its weights were drawn; nothing: they were read from a checkpoint.
  const std::optional<Initialisation>& initialisation() const { return loaded_->initialisation; }
  std::string stored_types() const;  // "BF16", or "BF16, F32"
  Device device() const { return pass_ != nullptr ? Device::kCuda : Device::kCpu; }
  KvCache new_cache() const;

  // Runs all sequences in one pass, packed end to end without padding; each comes out as if it had run
  // alone: on the CPU to the bit, on a device to rounding. Returns [sum of logit rows, vocabulary], valid
  // until the next call.
  const float* forward(const Context& context, std::span<const SequenceInput> sequences,
                       probe::Probe* probe = nullptr);
  // The same pass on a device, where each wanted row is chosen from by its rule and no logits leave the card.
  std::span<const ops::RowChoice> choose(const Context& context, std::span<const SequenceInput> sequences,
                                         std::span<const ops::ChoiceRule> rules,
                                         probe::Probe* probe = nullptr);

  // How many of these passes were run.
  std::int64_t passes() const { return passes_; }

  // States [rows, hidden] of any layer through the final norm and the head: the likeliest tokens, as a
  // probe's request for the lens has them.
  void lens(const Context& context, std::span<const float> states, std::int64_t top,
            probe::ResidualRecord& record);
  // What each head adds to the residual stream, [rows, heads, hidden], of ResidualRecord::head_out in a
  // layer. By the weights that the host holds, also where the model is on a device.
  std::vector<float> head_contributions(const Context& context, std::int64_t layer,
                                        std::span<const float> head_out);

 private:
  // What siblings share, and nobody changes.
  struct Loaded {
    Checkpoint checkpoint;
    FamilyTraits traits;
    ModelWeights weights;
    std::optional<Initialisation> initialisation = {};
    std::vector<Buffer<std::byte>> made = {};  // where weights that were made lie
  };

  explicit Model(std::shared_ptr<const Loaded> loaded);
  void check_inputs(std::span<const SequenceInput> sequences, bool observed) const;
  void embed(const Context& context, const PackedBatch& packed);
  void reserve_rows(std::int64_t count);
  // Records that still lack what comes behind the attention, with the numbers of their sequences.
  using UnfinishedRecords = std::vector<std::pair<size_t, probe::LayerRecord>>;
  UnfinishedRecords attention_layer(const Context& context, std::int64_t layer, const PackedBatch& packed,
                                    std::vector<LayerObservation>& observations, probe::Probe* probe);
  void keep_unrotated(const PackedBatch& packed, std::vector<LayerObservation>& observations) const;
  void unrotate_past(const Context& context, const PackedBatch& packed, std::int64_t layer,
                     std::vector<LayerObservation>& observations) const;
  // Rows that go on behind an attention: all of them, or those that become logits and then those that are
  // looked at.
  struct RowsAfterAttention {
    float* hidden;          // [count, hidden]
    const float* attended;  // [count, heads * head_dim]
    std::int64_t count;
    std::vector<std::int64_t> packed = {};  // which they are; empty: as they lie
  };
  RowsAfterAttention wanted_rows(const Context& context, const PackedBatch& packed,
                                 const std::vector<std::int64_t>& looked_at);
  StreamRows stream_rows(const RowsAfterAttention& rows, float* values) const;
  void add_attention(const Context& context, std::int64_t layer, const RowsAfterAttention& rows,
                     ResidualStream& stream);
  void mlp_layer(const Context& context, std::int64_t layer, const RowsAfterAttention& rows,
                 ResidualStream& stream);
  void plain_mlp(const Context& context, const LayerWeights& layer, std::int64_t rows, float* normed);
  void mixture_mlp(const Context& context, std::int64_t layer, std::int64_t first, std::int64_t rows,
                   float* normed);
  void reserve_routed(std::int64_t rows);
  probe::RoutingRecord routing_of(std::int64_t layer, const PackedBatch& packed, size_t sequence,
                                  std::span<const std::int64_t> packed_rows) const;
  float* logits(const Context& context, const float* states, std::int64_t count, const std::string& where);
  // Logits of `count` rows from `first` on, as PredictedLogits counts them.
  struct LogitsAt {
    const float* logits;
    std::int64_t first, count;
  };
  void measure_predictions(const Context& context, const PredictedLogits& predicted, Predictions& predictions,
                           const LogitsAt& at) const;
  void linear(const Context& context, const float* input, std::int64_t rows, const Weight& weight,
              const std::vector<float>& bias, float* output);
  void require_finite(const Context& context, const float* values, std::int64_t count,
                      const std::string& where) const;
  [[noreturn]] void throw_non_finite(const std::string& where) const;

  // What the routers of one layer decided, for its rows as they lie.
  struct Routed {
    Buffer<std::int32_t> experts;    // [rows, chosen]
    Buffer<float> weights, entropy;  // [rows, chosen], [rows]
    Buffer<float> logits;            // [kMlpRows, experts]
    Buffer<float> out;               // [kMlpRows, hidden], of the experts
  };
  struct Workspace {
    Buffer<float> hidden;                 // [rows, hidden], the residual stream
    Buffer<float> normed;                 // [rows, hidden], also the output of a sublayer
    Buffer<float> queries, keys, values;  // [rows, heads * head_dim]
    Buffer<float> attended;               // [rows, heads * head_dim]
    Buffer<float> gate, up;               // [kMlpRows, widest MLP]
    Routed routed;
    Buffer<float> wanted;           // [logit rows, hidden], of the stream in the last layer
    Buffer<float> wanted_attended;  // [logit rows, heads * head_dim]
    Buffer<float> logits;           // [logit rows, vocabulary]
    Buffer<float> predicted;        // [a few rows, vocabulary]: logits that only predictions need
    ops::LinearScratch linear;
    ops::AttentionScratch attention;
    ops::ExpertsScratch experts;
  };

  std::shared_ptr<const Loaded> loaded_;
  ops::RopeTable rope_;
  ops::RotaryScales rotary_scales_;
  Workspace work_;
  std::int64_t passes_ = 0;
  std::unique_ptr<DevicePass> pass_;  // null: on the CPU
};

}  // namespace buoy::model
