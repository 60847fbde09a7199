// Pairs of a row and an expert, sorted by expert, those of an expert in their order. Each warp has a stretch
// of the pairs: it counts every expert's, learns how many stand before them, and places them. Where there are
// many pairs, eight blocks of a cluster share them and read each other's counts.

#include "buoy/base/error.h"
#include "buoy/ops/attention/attention_mma_cuda.cuh"
#include "buoy/ops/device/launch_cuda.cuh"
#include "buoy/ops/experts/experts_cuda.h"

namespace buoy::ops {
namespace {

constexpr unsigned kAll = 0xffffffffu;

#if __CUDA_ARCH__ >= 900
__device__ int rank_in_cluster() {
  int rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;\n" : "=r"(rank));
  return rank;
}
// For all threads of the cluster. What they wrote before can be read behind it.
__device__ void cluster_meet() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;\n" ::: "memory");
}
// What stands at the same place in another block of the cluster.
__device__ int read_of(const int* own, int block) {
  int value;
  asm volatile(
      "{\n"
      ".reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %1, %2;\n"
      "ld.shared::cluster.s32 %0, [remote];\n"
      "}\n"
      : "=r"(value)
      : "r"(shared_address(own)), "r"(block)
      : "memory");
  return value;
}
#else
__device__ int rank_in_cluster() {
  return 0;
}
__device__ void cluster_meet() {}
__device__ int read_of(const int* own, int) {
  return *own;
}
#endif

// Turns how many pairs each warp of the block has into how many warps before it have. The sum to `own`.
__device__ void count_before_warps(int* counts, int warps, int experts, int* own) {
  for (int e = threadIdx.x; e < experts; e += blockDim.x) {
    int sum = 0;
#pragma unroll 8
    for (int warp = 0; warp < warps; ++warp) {
      const int count = counts[warp * experts + e];
      counts[warp * experts + e] = sum;
      sum += count;
    }
    own[e] = sum;
  }
}

// The sum of what threads before this one have. For all threads of a block; `partial` is of its warps.
__device__ int sum_before(int own, int* partial) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int sum = own;
  for (int offset = 1; offset < 32; offset *= 2) {
    const int other = __shfl_up_sync(kAll, sum, offset);
    if (lane >= offset) sum += other;
  }
  if (lane == 31) partial[warp] = sum;
  __syncthreads();
  int before = sum - own;
  for (int i = 0; i < warp; ++i) before += partial[i];
  return before;
}

// Each thread has kOwn neighbouring experts at most.
template <int kThreads, int kBlocks>
__global__ void __launch_bounds__(kThreads)
    sort_pairs_kernel(const std::int32_t* experts, int pairs, int expert_count, DevicePairs out) {
  constexpr int kWarps = kThreads / 32, kOwn = (static_cast<int>(kMostExperts) + kThreads - 1) / kThreads;
  extern __shared__ int counts[];  // [kWarps][expert_count]
  __shared__ int owned[kMostExperts], first[kMostExperts], partial[kWarps];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, block = kBlocks > 1 ? rank_in_cluster() : 0;
  for (int i = threadIdx.x; i < kWarps * expert_count; i += kThreads) counts[i] = 0;
  constexpr int kStretches = kWarps * kBlocks;
  const int stretch = ((pairs + kStretches - 1) / kStretches + 31) / 32 * 32;
  const auto begin = static_cast<int>(
      min(static_cast<std::int64_t>(block * kWarps + warp) * stretch, static_cast<std::int64_t>(pairs)));
  const int end = begin + min(stretch, pairs - begin);
  int* const mine = counts + warp * expert_count;
  __syncthreads();
  launch_dependents();
  wait_for_prior_grid();
  if (out.progress != nullptr && block == 0 && threadIdx.x < kExpertCounters) out.progress[threadIdx.x] = 0;
#pragma unroll 4
  for (int p = begin + lane; p < end; p += 32) atomicAdd(mine + experts[p], 1);
  __syncthreads();
  count_before_warps(counts, kWarps, expert_count, owned);
  if constexpr (kBlocks > 1) {
    cluster_meet();
  } else {
    __syncthreads();
  }
  // Pairs of an expert in all blocks, and in those before this one.
  int all[kOwn], before[kOwn], sum = 0;
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
    const int e = static_cast<int>(threadIdx.x) * kOwn + i;
    all[i] = before[i] = 0;
    if (e >= expert_count) continue;
#pragma unroll
    for (int other = 0; other < kBlocks; ++other) {
      const int count = kBlocks > 1 ? read_of(owned + e, other) : owned[e];
      all[i] += count;
      before[i] += other < block ? count : 0;
    }
    sum += all[i];
  }
  int at = sum_before(sum, partial);
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
    const int e = static_cast<int>(threadIdx.x) * kOwn + i;
    if (e >= expert_count) continue;
    first[e] = at + before[i];
    if (block == 0) out.first[e] = at;
    at += all[i];
    if (block == 0 && e + 1 == expert_count) out.first[expert_count] = at;
  }
  __syncthreads();
  constexpr int kTogether = 4;
  for (int base = begin; base < end; base += 32 * kTogether) {
    int chosen[kTogether];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int p = base + 32 * i + lane;
      chosen[i] = p < end ? experts[p] : -1;
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int expert = chosen[i], p = base + 32 * i + lane;
      const unsigned same = __match_any_sync(kAll, expert), lower = same & ((1u << lane) - 1);
      int place = 0;
      if (expert >= 0) place = first[expert] + mine[expert] + __popc(lower);
      __syncwarp();
      if (expert >= 0) {
        if (lower == 0) mine[expert] += __popc(same);
        out.source[place] = p;
        out.place[p] = place;
      }
      __syncwarp();
    }
  }
  // Nobody leaves while others may read its counts.
  if constexpr (kBlocks > 1) cluster_meet();
}

}  // namespace

void sort_pairs_cuda(const Stream& stream, const std::int32_t* experts, std::int64_t pairs,
                     std::int64_t expert_count, const DevicePairs& out) {
  BUOY_CHECK(expert_count <= kMostExperts && pairs < (std::int64_t{1} << 31));
  if (pairs == 0) return;
  constexpr int kFew = 256, kMany = 1024, kBlocks = 8;
  const bool early = gpu().major >= 9;
  const auto launch = [&]<int kThreads, int kCluster>() {
    launch_kernel({.grid = dim3(kCluster),
                   .block = kThreads,
                   .shared_bytes = static_cast<int>(kThreads / 32 * expert_count * sizeof(int)),
                   .cluster = kCluster,
                   .early = early},
                  stream, "sort pairs by expert", sort_pairs_kernel<kThreads, kCluster>, experts,
                  static_cast<int>(pairs), static_cast<int>(expert_count), out);
  };
  if (pairs <= kFew) return launch.template operator()<kFew, 1>();
  if (pairs <= 2 * kMany || !early) return launch.template operator()<kMany, 1>();
  launch.template operator()<kMany, kBlocks>();
}

}  // namespace buoy::ops
