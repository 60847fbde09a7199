#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "buoy/model/kv_cache.h"
#include "buoy/probe/request.h"

namespace buoy::model {

// One sequence of a packed batch.
struct SequenceInput {
  std::span<const std::int32_t> tokens;
  std::span<const std::int32_t> logit_rows = {};  // rows of `tokens` whose logits are wanted
  KvCache* cache = nullptr;                       // past of the sequence; extended by `tokens`
  probe::Address address = {};                    // how a probe knows this forward; `layer` is filled in

  std::int64_t rows() const { return static_cast<std::int64_t>(tokens.size()); }
  std::int64_t past() const { return cache != nullptr ? cache->length() : 0; }
};

// Where each sequence lies in the packed rows.
struct PackedBatch {
  explicit PackedBatch(std::span<const SequenceInput> inputs);

  std::int64_t rows() const { return static_cast<std::int64_t>(tokens.size()); }

  std::span<const SequenceInput> sequences;
  std::vector<std::int64_t> first_rows;
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> positions;
  std::vector<std::int64_t> logit_rows;  // packed row numbers
};

}  // namespace buoy::model
