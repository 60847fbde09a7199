// The largest numbers of a row, one after the other: one rule for ties, one search.

#pragma once

#include <cstdint>

#include "buoy/ops/device/block_cuda.cuh"

namespace buoy::ops {

// Larger scores go first, lower ids among equals. A NaN goes before nothing and nothing before it.
template <typename Score>
__device__ bool goes_before(Score score, std::int32_t id, Score other_score, std::int32_t other_id) {
  return score > other_score || (score == other_score && id < other_id);
}

// A number of a row and its place in it. As it is initialised here it goes behind every number.
struct Ranked {
  float score = -INFINITY;
  std::int32_t id = INT32_MAX;

  __device__ bool before(const Ranked& other) const { return goes_before(score, id, other.score, other.id); }
  __device__ Ranked shuffled(int offset) const {
    return {ops::shuffled(score, offset), ops::shuffled(id, offset)};
  }
};

struct FirstOf {
  __device__ Ranked operator()(const Ranked& a, const Ranked& b) const { return b.before(a) ? b : a; }
};

// A row that the kThreads threads of a block look through together. It is read once: each thread remembers
// the first of its own numbers (every kThreads-th), and when this one is taken, its warp looks for the next.
template <int kThreads>
class LargestOfRow {
 public:
  // Ids must not overflow when the warp looks ahead.
  static constexpr std::int64_t kMostNumbers = std::int64_t{1} << 30;

  __device__ LargestOfRow(const float* row, std::int32_t count) : row_(row), count_(count) {
#pragma unroll 8
    for (std::int32_t id = threadIdx.x; id < count; id += kThreads) own_ = FirstOf{}(own_, {row[id], id});
  }

  // The first of those not yet taken, the same in every thread; an id of INT32_MAX when there is none. All
  // threads must call it.
  __device__ Ranked take() {
    const Ranked taken = block_join<kThreads>(own_, FirstOf{});
    const int owner = taken.id % kThreads, lane = threadIdx.x % 32;
    if (threadIdx.x / 32 != owner / 32) return taken;
    Ranked next;
    for (std::int32_t id = owner + lane * kThreads; id < count_; id += 32 * kThreads) {
      const Ranked one{row_[id], id};
      if (taken.before(one)) next = FirstOf{}(next, one);
    }
    next = warp_join(next, FirstOf{});
    if (threadIdx.x == owner) own_ = next;
    return taken;
  }

 private:
  const float* row_;
  std::int32_t count_;
  Ranked own_;
};

}  // namespace buoy::ops
