#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "buoy/model/model.h"

namespace buoy::run {

// Keys and values of what the prompts of one condition have in common: instructions, worked examples.
// Computed once; every sequence starts from a copy. For autoregressive models only: with bidirectional
// attention a prefix depends on what follows it.
class PrefixCache {
 public:
  // A shorter beginning is not worth its copies.
  static constexpr std::int64_t kShortest = 8;

  PrefixCache(const Context& context, model::Model& model) : context_(context), model_(model) {}

  // A cache for a sequence that begins with this prompt, filled as far as is known, always short of the last
  // token. The first two prompts decide what is kept.
  model::KvCache start(std::span<const std::int32_t> prompt);
  std::int64_t length() const { return kept_ ? kept_->length() : 0; }

 private:
  const Context& context_;
  model::Model& model_;
  std::vector<std::int32_t> first_;  // the first prompt; afterwards the prefix
  std::optional<model::KvCache> kept_;
  int prompts_ = 0;
};

}  // namespace buoy::run
