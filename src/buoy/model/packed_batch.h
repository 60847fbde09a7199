#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "buoy/model/kv_cache.h"
#include "buoy/ops/attention/attention.h"
#include "buoy/probe/request.h"

namespace buoy::model {

// Blocks of `block` positions, one of which begins at the origin: a query sees the blocks up to its own, or,
// before the origin, what `before` says.
struct BlockGrid {
  std::int64_t block = 0;
  std::int64_t origin = 0;
  ops::BeforeGrid before = ops::BeforeGrid::kBlocks;
};

// One sequence of a packed batch.
struct SequenceInput {
  std::span<const std::int32_t> tokens;
  std::span<const std::int32_t> logit_rows = {};  // rows of `tokens` whose logits are wanted
  KvCache* cache = nullptr;                       // past of the sequence; extended by `tokens`
  probe::Address address = {};                    // how a probe knows this forward; `layer` is filled in
  // Positions of the prompt, which see each other where the mask is one of prefixes; other masks do not ask.
  // Unset: all tokens of the first forward.
  std::optional<std::int64_t> prefix = std::nullopt;

  // Of families that may decode blocks. Unset: the config's, from position 0; A2D models then see everything.
  std::optional<BlockGrid> grid = std::nullopt;
  // False: the cache is read, and left as it was. Tokens that are not final must not stay in it.
  bool extends_cache = true;
  // The tokens begin at this position of the cache, and their keys and values replace those that stand there.
  // Unset: they follow it.
  std::optional<std::int64_t> replaces_from = std::nullopt;

  // So many rows of a sequence that stands before this one in the batch extend the same cache; these tokens
  // follow them. Nobody may observe such a forward.
  std::int64_t behind = 0;

  std::int64_t rows() const { return static_cast<std::int64_t>(tokens.size()); }
  // Position of the first token.
  std::int64_t past() const {
    return replaces_from.value_or(cache != nullptr ? cache->length() + behind : 0);
  }
  // Keys that are there during the forward.
  std::int64_t key_rows() const { return replaces_from ? cache->length() : past() + rows(); }
  // Rows that are there when the prefix has to be: those of the first forward, which the cache then holds.
  std::int64_t longest_prefix() const { return past() > 0 ? past() : rows(); }
  std::int64_t prefix_length() const { return prefix.value_or(longest_prefix()); }
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
