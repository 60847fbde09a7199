#pragma once

#include <cstdint>
#include <optional>

#include "buoy/questions/item.h"
#include "buoy/questions/noise.h"

namespace buoy::run {

// Which passages of an item go into the prompt, and where the gold one stands. Everything that asks
// questions (trace, eval, study) arranges passages by this struct and arrange(), and by nothing else.
struct Arrangement {
  bool closed_book = false;  // no passages at all
  // At most this many, from the first on. Where the gold passage is moved, split or kept on purpose, it is
  // one of them. -1: all.
  std::int64_t passages = -1;
  std::int64_t gold_position = 0;    // from 1; 0: where it is
  std::optional<std::size_t> noise;  // noise passages in place of the item's own that are not gold
  questions::Noise noise_kind = questions::Noise::kRandom;
  std::int64_t evidence_parts = 1;  // passages that the gold one is split into
  bool keep_gold = false;           // whatever its place: points of one sweep show the same others
  bool gold_by_answer = false;      // passages that hold an answer count as gold where none is marked

  bool needs_gold() const { return gold_position > 0 || evidence_parts > 1 || keep_gold; }
  // Whether an item keeps its passages as they are.
  bool leaves_passages_alone() const;
};

// Refuses what no item can satisfy: a place for the gold passage beyond the number of passages. UsageError.
void check_arrangement(const Arrangement& arrangement);

// What noise is drawn from and by.
struct NoiseDraw {
  const questions::NoisePool* pool = nullptr;  // needed with `noise`
  std::size_t number = 0;                      // place of the item in its data set
  std::uint64_t seed = 0;
};

// The item as the arrangement shows it. The gold passage is kept wherever the arrangement says where it
// stands or splits it; InputError when the item has none, fewer passages than asked for, or the place lies
// beyond its passages.
questions::Item arrange(const questions::Item& item, const Arrangement& arrangement,
                        const NoiseDraw& draw = {});

}  // namespace buoy::run
