#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace buoy::probe {

// Where the residual stream of a layer is read or changed: before its attention, between attention and MLP,
// behind the MLP. What lies behind one layer lies before the next.
enum class ResidualPoint : std::uint8_t { kPre, kMid, kPost };

// States of the forward before, for who compares steps; kept by whoever asks. Each layer is filled by one
// thread at a time.
struct PreviousStates {
  explicit PreviousStates(std::int64_t layers)
      : of_layer(static_cast<std::size_t>(layers)), step(of_layer.size(), -1) {}

  std::vector<std::vector<float>> of_layer;  // [rows, hidden] behind each layer
  std::vector<std::int64_t> step;            // of which they are; -1: none
};

// What is wanted of the residual stream in one layer, of the chosen rows alone.
struct ResidualRequest {
  std::vector<std::int32_t> rows;               // of this forward, ascending, none twice
  bool pre = false, mid = false, post = false;  // the stream, after a change at that point
  bool attention_out = false;                   // what the attention adds to it
  bool mlp_out = false;                         // what the MLP adds to it
  bool head_out = false;  // what every head hands to the output projection, after its scale
  std::int64_t lens =
      0;  // so many likeliest tokens, by the final norm and the head on the stream behind the layer

  // Lengths of what the attention and the MLP add and of the stream behind them, and its largest number.
  bool norms = false;

  // Cosines of the stream behind the layer with what it was in the forward before; null: not wanted.
  std::shared_ptr<PreviousStates> previous = nullptr;

  // What has to be gathered for that.
  bool reads_post() const { return post || norms || previous != nullptr; }
  bool gathers_post() const { return reads_post() || lens > 0; }
  bool gathers_attention_out() const { return attention_out || norms; }
  bool gathers_mlp_out() const { return mlp_out || norms; }
  bool behind_attention() const {
    return mid || gathers_post() || gathers_attention_out() || gathers_mlp_out();
  }
  bool any() const { return !rows.empty() && (pre || head_out || behind_attention()); }
};

// What was asked for; the rest is empty.
struct ResidualRecord {
  std::vector<float> pre, attention_out, mid, mlp_out, post;  // [rows, hidden]
  std::vector<float> head_out;                                // [rows, heads, head_dim]
  std::vector<std::int32_t> lens_tokens;                      // [rows, lens], likeliest first
  std::vector<float> lens_probabilities;                      // [rows, lens]
  std::vector<float> attention_norm, mlp_norm, norm;          // [rows]
  std::vector<float> peak;                                    // [rows], the largest absolute value of `post`
  std::vector<std::int32_t> peak_at;                          // [rows], its dimension
  std::vector<float> cosine;                                  // [rows]; 1 where there is no forward before

  // Where a device holds these states, [rows, hidden] each: complete, and valid during Probe::take only. Null
  // on the CPU, and where records are taken later.
  struct OnDevice {
    const float *pre = nullptr, *mid = nullptr, *post = nullptr;
  };
  OnDevice on_device = {};
};

// A vector for the residual stream of some rows of a forward.
struct ResidualChange {
  ResidualPoint at = ResidualPoint::kPost;
  bool replace = false;  // the state itself; else the vector is added to it
  // Ascending, none twice; those that the forward does not have are refused.
  std::span<const std::int32_t> rows;
  std::span<const float> values;  // [hidden] for all these rows alike, or [rows, hidden]
};

}  // namespace buoy::probe
