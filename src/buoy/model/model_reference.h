#pragma once

#include <vector>

#include "buoy/model/packed_batch.h"
#include "buoy/model/weights.h"
#include "buoy/probe/probe.h"

namespace buoy::model {

// What one layer does to the residual stream of all rows, after every change at that point.
template <typename Number>
struct PlainLayer {
  std::vector<Number> pre, attention_out, mid, mlp_out, post;  // [rows, hidden]
  std::vector<Number> head_out;                                // [rows, heads, head_dim]
  std::vector<Number> weights;                                 // [heads, rows, keys], of the attention
};

// Keys and values of the past of one sequence, by layer.
template <typename Number>
struct PlainCache {
  std::vector<std::vector<Number>> keys, values;  // [layers] of [positions, kv_heads * head_dim]
};

template <typename Number>
struct PlainStates {
  std::vector<PlainLayer<Number>> layers;
  std::vector<Number> logits;  // [rows, vocabulary]
};

// The whole pass over one sequence, in plain loops. In double it is the oracle of everything
// that is read of the residual stream or changed in it; in float it says how far off a plain pass is. Of the
// probe it asks for changes alone.
template <typename Number>
class PlainPass {
 public:
  using Numbers = std::vector<Number>;

  PlainPass(const ModelConfig& config, const ModelWeights& weights) : config_(config), weights_(weights) {}

  // `past`: where the sequence has a cache, which only says how long it is and stays as it is.
  PlainStates<Number> forward(const SequenceInput& sequence, probe::Probe* probe = nullptr,
                              PlainCache<Number>* past = nullptr) const;
  // The final norm and the head on states [rows, hidden]: logits, [rows, vocabulary].
  Numbers lens(const Numbers& states) const;

 private:
  Numbers norm(const Numbers& states, const std::vector<float>& weight) const;
  // What a layer's attention works on; keys and values of the past stand before those of the rows.
  struct Attention {
    const LayerWeights& layer;
    const Numbers& normed;
    const SequenceInput& sequence;
    const probe::Change& change;
    Numbers &keys, &values;
  };
  // Returns what the heads hand on; `weights` [heads, rows, keys].
  Numbers attend(const Attention& attention, Numbers& weights) const;
  Numbers mlp(const LayerWeights& layer, const Numbers& normed) const;
  Numbers mixture(const MixtureWeights& mixture, const Numbers& normed) const;

  const ModelConfig& config_;
  const ModelWeights& weights_;
};

using ModelReference = PlainPass<double>;

extern template class PlainPass<double>;
extern template class PlainPass<float>;

}  // namespace buoy::model
