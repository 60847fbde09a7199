#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "buoy/checkpoint/config.h"
#include "buoy/model/observation.h"
#include "buoy/model/packed_batch.h"

namespace buoy::model {

inline std::int64_t rounded_up(std::int64_t number, std::int64_t to_multiple_of) {
  return (number + to_multiple_of - 1) / to_multiple_of * to_multiple_of;
}

// What is wanted of one layer of a packed batch: the requests of all sequences joined, since one launch
// serves them all.
struct LayerWants {
  LayerWants() = default;
  // `chosen`: how many experts a row of this layer meets.
  LayerWants(const PackedBatch& batch, std::vector<LayerObservation> asked, std::int64_t chosen = 0);

  bool statistics() const { return received || first_share || !close_rows.empty(); }
  bool moments() const { return qk_after || qk_before || norms || value_norm; }
  bool head_states() const { return head_norm || drift; }  // what heads put out, what they hold
  bool host_states() const { return dense || states; }
  bool changes() const { return biased || scaled || residual_changed; }
  bool any() const {
    return statistics() || moments() || head_states() || host_states() || entropy || log_sum_exp ||
           reads_residual() || routing_asked || followed;
  }
  bool routing() const { return routing_asked && chosen_experts > 0; }
  bool reads_residual() const { return !stream_rows.empty(); }
  // Whether the stream is read or changed before the layer's attention.
  bool before_attention() const { return stream.pre || residual_changed; }
  bool behind_attention() const {
    return routing() || (reads_residual() && (stream.after_attention || stream.mid || stream.after_mlp ||
                                              stream.post || stream.lens > 0));
  }

  // Appends what tells layers apart that take other kernels or other sizes of buffers.
  void append_shape(std::vector<std::int64_t>& shape) const;

  std::vector<LayerObservation> observations;  // of every sequence; empty: nobody watches

  // `received`: on the card, where it is not summed up from rows on the host.
  bool received = false, entropy = false, log_sum_exp = false, first_share = false, row_weights = false;
  bool row_mass = false, group_mass = false;
  bool qk_after = false, qk_before = false, norms = false, value_norm = false, dense = false, states = false;
  bool head_norm = false, drift = false;
  bool biased = false, bias_per_head = false, scaled = false;
  bool routing_asked = false;       // of a layer that may have no experts
  std::int64_t chosen_experts = 0;  // of each row; 0: the layer has no experts
  // Groups that have rows, in the order of those that were asked for: only these are measured.
  std::int64_t groups = 1;
  std::vector<std::uint8_t> group_of_row;  // [packed rows]; empty: all in group 0
  // Of every group that was asked for, its number among those; below zero: it has no rows. Empty: all have.
  std::vector<std::int32_t> place_of_group;
  // What followed rows give: what `received` says, or measured apart, by groups of their own.
  bool followed = false, followed_apart = false;
  std::vector<std::uint8_t> followed_group_of_row;  // [packed rows], where it is apart
  std::int64_t top = 0, sets = 0;
  std::vector<std::shared_ptr<const KeySets>> key_sets;  // of every sequence; null: none
  std::vector<std::int32_t> close_rows;                  // packed rows
  std::vector<std::int64_t> first_close;                 // of each sequence in close_rows

  // What is gathered of the residual stream: what attention and MLP add are differences of it.
  struct Stream {
    bool pre = false, after_attention = false, mid = false, after_mlp = false, post = false, head_out = false;
    std::int64_t lens = 0;
  };
  Stream stream;
  std::vector<std::int32_t> stream_rows;   // packed rows
  std::vector<std::int64_t> first_stream;  // of each sequence in stream_rows
  bool residual_changed = false;           // by a vector or a factor on the MLP

 private:
  // So many rows the host sums up while it copies them.
  static constexpr std::int64_t kMostRowsSummed = 64;

  // Whether what keys receive need not be measured, since all its rows leave the card.
  bool rows_give_received(const PackedBatch& batch) const;
  void group_rows(const PackedBatch& batch);
};

// Where each result lies in the buffer of one layer, in units of four bytes; kAbsent for what is not wanted.
struct ObservationLayout {
  static constexpr std::int64_t kAbsent = -1;

  ObservationLayout() = default;
  // What has a number for each column stands together and ends; there sections begin at multiples of
  // `column_step`.
  ObservationLayout(const ModelConfig& config, const LayerWants& wants, std::int64_t rows,
                    std::int64_t columns, std::int64_t longest_keys, std::int64_t column_step = kStep);

  static constexpr std::int64_t kStep = 64;

  std::int64_t followed = kAbsent;  // [heads, columns]
  std::int64_t received = kAbsent, entropy = kAbsent, log_sum_exp = kAbsent, first_share = kAbsent;
  std::int64_t top_keys = kAbsent, top_weights = kAbsent, row_weights = kAbsent;
  std::int64_t row_mass = kAbsent, group_mass = kAbsent;  // [..., sets]
  // Four of [heads, columns] each; `before` two, where there is `after`: the other two are the same.
  std::int64_t after = kAbsent, before = kAbsent;
  std::int64_t query_norm = kAbsent, key_norm = kAbsent, value_norm = kAbsent;
  std::int64_t head_norm = kAbsent, key_cosine = kAbsent, value_cosine = kAbsent;
  std::int64_t row_weight_stride = 0;
  // Of the chosen rows, [rows, hidden] each but head_out, [rows, heads * head_dim], and the lens, [rows,
  // lens].
  std::int64_t pre = kAbsent, after_attention = kAbsent, mid = kAbsent, after_mlp = kAbsent, post = kAbsent;
  std::int64_t head_out = kAbsent, lens_tokens = kAbsent, lens_probabilities = kAbsent;
  std::int64_t routed = kAbsent, routed_weights = kAbsent;  // [rows, chosen]
  std::int64_t router_entropy = kAbsent;                    // [rows]
  // In their order: `pieces` stretches of `width`.
  struct Section {
    std::int64_t at, pieces, width;
  };
  std::vector<Section> sections;
  std::int64_t copied = 0;  // what the host gets
  std::int64_t size = 0;    // what the device needs
};

}  // namespace buoy::model
