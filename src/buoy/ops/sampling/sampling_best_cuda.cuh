// The best of a row of logits and the sum of exponentials below it, found in stretches of neighbouring ids.
// Floats are compared as they are, and exp is float's (a relative error of 1e-7 in a confidence; the rounding
// of bf16 logits is 10,000 times that).

#pragma once

#include "buoy/ops/device/bulk_copy_cuda.cuh"
#include "buoy/ops/device/largest_cuda.cuh"
#include "buoy/ops/sampling/choice.h"

namespace buoy::ops {

inline constexpr int kChoiceThreads = 512;

// The largest score so far, ties to the lower id, and the second largest.
struct Best {
  double score = -INFINITY, second = -INFINITY;
  std::int32_t id = INT32_MAX;

  __device__ void offer(const Best& other) {
    const bool wins = goes_before(other.score, other.id, score, id);
    second = wins ? fmax(score, other.second) : fmax(second, other.score);
    if (wins) {
      score = other.score;
      id = other.id;
    }
  }
  __device__ Best shuffled(int offset) const {
    return {ops::shuffled(score, offset), ops::shuffled(second, offset), ops::shuffled(id, offset)};
  }
};

__device__ inline Best block_best(const Best& own) {
  return block_join<kChoiceThreads>(own, [](Best best, const Best& other) {
    best.offer(other);
    return best;
  });
}

// Of a row from its stretches, wherever they lie: the same in every thread of the block. A row of NaNs has no
// best, and its sum is 0.
struct BestAndSum {
  Best best;
  double sum;  // of exp(logit - best.score)
};
__device__ inline BestAndSum join_stretches(const StretchBest* stretches, std::int64_t count) {
  Best best;
  for (std::int64_t i = threadIdx.x; i < count; i += kChoiceThreads)
    best.offer({stretches[i].largest, stretches[i].second, stretches[i].id});
  best = block_best(best);
  double own = 0;
  for (std::int64_t i = threadIdx.x; i < count; i += kChoiceThreads) {
    if (stretches[i].largest > -INFINITY) own += stretches[i].sum * exp(stretches[i].largest - best.score);
  }
  return {best, block_sum<kChoiceThreads>(own)};
}

// ids in [first, end), a multiple of four and the end of another stretch or of the row; one id left out.
struct Stretch {
  std::int32_t first, end, forbidden;
};

// Read once by a block, with several loads of a thread on their way at a time: a running maximum rescales the
// sum. kQuads: rows are read four numbers at a time. The same in every thread.
template <bool kQuads>
__device__ StretchBest best_of_stretch(const float* logits, const Stretch& stretch, bool& finite) {
  constexpr int kTogether = 5, kStride = 4 * kChoiceThreads;
  float score = -INFINITY, second = -INFINITY;
  std::int32_t best = INT32_MAX;
  double own = 0;
  const auto first_of_thread = stretch.first + 4 * static_cast<std::int32_t>(threadIdx.x);
  for (std::int32_t first = first_of_thread; first < stretch.end; first += kTogether * kStride) {
    float read[kTogether][4];
#pragma unroll
    for (int j = 0; j < kTogether; ++j) {
      const std::int32_t id = first + j * kStride;
      if constexpr (kQuads) {
        float4 quad = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
        if (id < stretch.end) quad = __ldcs(reinterpret_cast<const float4*>(logits + id));
        read[j][0] = quad.x, read[j][1] = quad.y, read[j][2] = quad.z, read[j][3] = quad.w;
      } else {
#pragma unroll
        for (int k = 0; k < 4; ++k) read[j][k] = id + k < stretch.end ? __ldcs(logits + id + k) : -INFINITY;
      }
    }
    float largest = score;
#pragma unroll
    for (int j = 0; j < kTogether; ++j) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const std::int32_t id = first + j * kStride + k;
        finite &= id >= stretch.end || isfinite(read[j][k]);
        if (id == stretch.forbidden) read[j][k] = -INFINITY;
        second = fmaxf(second, fminf(largest, read[j][k]));
        if (read[j][k] > largest) {
          largest = read[j][k];
          best = id;
        }
      }
    }
    if (largest > score) own *= expf(score - largest);
    score = largest;
    if (score == -INFINITY) continue;
#pragma unroll
    for (int j = 0; j < kTogether; ++j)
      own += expf(read[j][0] - score) + expf(read[j][1] - score) + expf(read[j][2] - score) +
             expf(read[j][3] - score);
  }
  const Best all = block_best({score, second, best});
  const double sum =
      block_sum<kChoiceThreads>(score > -INFINITY ? own * exp(static_cast<double>(score) - all.score) : 0.0);
  return {static_cast<float>(all.score), static_cast<float>(all.second), all.id, static_cast<float>(sum)};
}

// A row divided among the blocks of a cluster (or read by one block alone), whose first one joins what all
// have found. On GPUs before Hopper there are no clusters.
class DividedRow {
 public:
  static constexpr int kMostParts = 8;
  struct Shared {
    StretchBest stretches[kMostParts];
    std::uint64_t joined;  // an mbarrier
  };

  // For all threads of all blocks.
  __device__ DividedRow(Shared& shared, int parts, int part) : shared_(shared), parts_(parts), part_(part) {
    if (parts == 1) return;
#if __CUDA_ARCH__ >= 900
    if (part == 0 && threadIdx.x == 0) {
      mbarrier_init(&shared.joined, 1);
      mbarrier_init_fence();
      mbarrier_arrive_expect_tx(&shared.joined, static_cast<std::uint32_t>(parts * sizeof(StretchBest)));
    }
    __syncwarp();
    cluster_arrive();
#endif
  }

  __device__ Stretch stretch(std::int32_t vocabulary, std::int32_t forbidden) const {
    const std::int32_t size = (vocabulary / parts_ + 4) / 4 * 4;
    return {min(vocabulary, part_ * size), min(vocabulary, (part_ + 1) * size), forbidden};
  }

  // Nothing is left to do for a block that is not the first.
  __device__ void leave(const StretchBest& own) const {
    if (parts_ == 1) {
      if (threadIdx.x == 0) shared_.stretches[0] = own;
      __syncthreads();
      return;
    }
#if __CUDA_ARCH__ >= 900
    cluster_wait();  // the first block's barrier is there
    if (threadIdx.x == 0)
      store_async(address_in_block(&shared_.stretches[part_], 0), address_in_block(&shared_.joined, 0),
                  own.largest, own.second, __int_as_float(own.id), own.sum);
#endif
  }

  // In the first block, behind leave().
  __device__ BestAndSum join() const {
#if __CUDA_ARCH__ >= 900
    if (parts_ > 1) mbarrier_wait_cluster(&shared_.joined, 0);
#endif
    return join_stretches(shared_.stretches, parts_);
  }

 private:
  Shared& shared_;
  int parts_, part_;
};

}  // namespace buoy::ops
