#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "model/family.h"
#include "model/kv_cache.h"
#include "model/observation.h"
#include "model/weights.h"
#include "ops/linear.h"
#include "ops/rope.h"
#include "probe/probe.h"
#include "tensor/buffer.h"
#include "tensor/context.h"

namespace buoy::model {

// One sequence of a packed batch.
struct SequenceInput {
  std::span<const std::int32_t> tokens;
  std::span<const std::int32_t> logit_rows;  // rows of `tokens` whose logits are wanted
  KvCache* cache = nullptr;                  // past of the sequence; extended by `tokens`
  probe::Address address = {};               // how a probe knows this forward; `layer` is filled in
};

// A loaded checkpoint that can be run. Not for use by two threads at once.
class Model {
 public:
  static Model load(const std::filesystem::path& folder);

  const ModelConfig& config() const { return checkpoint_.config(); }
  const FamilyTraits& traits() const { return traits_; }
  const Checkpoint& checkpoint() const { return checkpoint_; }
  KvCache new_cache() const { return {config().layers, config().kv_heads * config().head_dim}; }

  // Runs all sequences in one pass, packed end to end without padding; each comes out as if it had run
  // alone, to the bit. Returns [sum of logit rows, vocabulary], valid until the next call.
  const float* forward(const Context& context, std::span<const SequenceInput> sequences,
                       probe::Probe* probe = nullptr);

 private:
  struct Packed;

  Model(Checkpoint checkpoint, FamilyTraits traits);
  void check_tokens(std::span<const SequenceInput> sequences) const;
  void embed(const Context& context, const Packed& packed);
  void attention_layer(const Context& context, std::int64_t layer, const Packed& packed, probe::Probe* probe);
  std::vector<LayerObservation> ask(std::int64_t layer, const Packed& packed, probe::Probe& probe) const;
  void keep_unrotated(const Packed& packed, std::vector<LayerObservation>& observations) const;
  void unrotate_past(const Context& context, const Packed& packed, std::int64_t layer,
                     std::vector<LayerObservation>& observations) const;
  void mlp_layer(const Context& context, std::int64_t layer, const Packed& packed);
  void linear(const Context& context, const float* input, std::int64_t rows, const Weight& weight,
              const std::vector<float>& bias, float* output);
  void require_finite(const Context& context, const float* values, std::int64_t count,
                      const std::string& where) const;

  struct Workspace {
    Buffer<float> hidden;                 // [rows, hidden], the residual stream
    Buffer<float> normed;                 // [rows, hidden], also the output of a sublayer
    Buffer<float> queries, keys, values;  // [rows, heads * head_dim]
    Buffer<float> attended;               // [rows, heads * head_dim]
    Buffer<float> gate, up;               // [kMlpRows, mlp_hidden]
    Buffer<float> logits;                 // [logit rows, vocabulary]
    ops::LinearScratch linear;
    ops::AttentionScratch attention;
  };

  Checkpoint checkpoint_;
  FamilyTraits traits_;
  ModelWeights weights_;
  ops::RopeTable rope_;
  Workspace work_;
};

}  // namespace buoy::model
