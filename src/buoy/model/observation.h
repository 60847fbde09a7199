#pragma once

#include <vector>

#include "buoy/model/packed_batch.h"
#include "buoy/ops/attention/attention.h"
#include "buoy/probe/probe.h"
#include "buoy/tensor/context.h"

namespace buoy::model {

// The observation of one sequence in one layer: what was asked, the room for the row normalisers, and
// copies of what the rotation would overwrite.
struct LayerObservation {
  probe::Address address;
  probe::LayerRequest request;
  probe::Change change;
  std::vector<float> row_top, row_sum;                   // [heads, query_rows], when needed
  std::vector<float> unrotated_queries, unrotated_keys;  // [rows, heads, head_dim], when needed
};

// FollowedRows as groups: 0 or probe::kNoGroup for every row.
std::vector<std::uint8_t> followed_groups(probe::FollowedRows followed, std::int64_t rows);

// Asks the probe about one layer of every sequence.
std::vector<LayerObservation> ask(std::int64_t heads, std::int64_t layer,
                                  std::span<const SequenceInput> sequences, probe::Probe& probe);

// Measures what was asked of a sequence whose attention has just been computed.
probe::LayerRecord measure(const Context& context, const ops::AttentionShape& shape,
                           const ops::AttentionSequence& sequence, const LayerObservation& observation);

}  // namespace buoy::model
