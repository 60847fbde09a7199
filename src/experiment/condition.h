#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "evaluate/item.h"
#include "evaluate/noise.h"
#include "experiment/decoding.h"

namespace buoy::experiment {

// One way of asking a whole data set: which passages go into the prompt, and what else differs.
struct Condition {
  std::string name = "passages";
  bool closed_book = false;
  std::int64_t passages = -1;        // at most this many, from the first on; -1: all
  std::int64_t gold_position = 0;    // from 1; the gold passage is kept among `passages`; 0: where it is
  std::optional<std::size_t> noise;  // noise passages in place of the item's own that are not gold
  evaluate::Noise noise_kind = evaluate::Noise::kRandom;
  std::int64_t evidence_parts = 1;  // passages that the gold one is split into
  bool gold_by_answer = false;      // passages that hold an answer count as gold where none is marked

  std::optional<std::string> prompt;  // template instead of the run's
  std::optional<std::int32_t> slots;  // generated tokens
  std::optional<std::int32_t> steps;
  std::optional<std::string> order;  // of unmasking
  std::optional<std::uint64_t> seed;

  // Where on the axis of a sweep it stands; "" outside of one.
  std::string axis, value;
};

// The item as this condition shows it. `number` is its place in the data set; `seed` draws noise.
evaluate::Item arrange(const evaluate::Item& item, std::size_t number, const Condition& condition,
                       const evaluate::NoisePool* pool, std::uint64_t seed);

DecodeOptions decoding_of(const Condition& condition, DecodeOptions decoding);

// "gold-position=1-10", "noise-kind=random,shuffled": one condition for each value, made from `base`.
// UsageError for an axis or value there is none of.
std::vector<Condition> sweep(const std::string& text, const Condition& base);
std::string describe_sweeps();  // axes with a line on each, for the help

nlohmann::json describe(const Condition& condition);

}  // namespace buoy::experiment
