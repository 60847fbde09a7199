// The router's decision: a warp has a row, and its lanes keep the experts' numbers in registers. The pairs
// are sorted on the way (sort_pairs_cuda.cuh).

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/ops/device/bf16.cuh"
#include "buoy/ops/device/launch_cuda.cuh"
#include "buoy/ops/experts/experts_cuda.h"
#include "buoy/ops/experts/sort_pairs_cuda.cuh"

namespace buoy::ops {
namespace {

constexpr int kRouteThreads = 32 * kSortRows, kLeastThreads = 128;
constexpr unsigned kAll = 0xffffffffu;

struct RouteKernelArgs {
  DeviceRouteArgs io;
  SortArgs sort;
  int experts, chosen, groups, kept_groups, parts;
  bool sigmoids, renormalise;
  float scale;
};

// Keys are ordered as their numbers are; zeros of both signs have one. No number has those below, so that a
// row never chooses an expert twice.
constexpr std::uint32_t kNobody = 0, kForbidden = 1, kLeastKey = 2;
__device__ std::uint32_t key_of(float number) {
  const std::uint32_t bits = __float_as_uint(number + 0.0f);
  return max(bits ^ (bits >> 31 != 0 ? 0xffffffffu : 0x80000000u), kLeastKey);
}
__device__ float number_of(std::uint32_t key) {
  return __uint_as_float(key ^ (key >> 31 != 0 ? 0x80000000u : 0xffffffffu));
}

// The lowest of the lanes that have the largest key.
__device__ int best_lane(std::uint32_t key) {
  return __ffs(static_cast<int>(__ballot_sync(kAll, key == __reduce_max_sync(kAll, key)))) - 1;
}

// A lane scores the group of its number: the sum of the two largest, or the only one. Groups of `together`
// registers of whole warps.
template <int kOwn>
__device__ float score_wide_groups(const std::uint32_t (&keys)[kOwn], int together) {
  const int lane = threadIdx.x % 32;
  float score = -INFINITY;
  std::uint32_t first = 0, second = 0;
  int group = 0, left = together;
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
    const std::uint32_t most = __reduce_max_sync(kAll, keys[i]);
    const int holder = __ffs(static_cast<int>(__ballot_sync(kAll, keys[i] == most))) - 1;
    const std::uint32_t next = __reduce_max_sync(kAll, lane == holder ? 0 : keys[i]);
    second = max(min(first, most), max(second, next));
    first = max(first, most);
    if (--left > 0) continue;
    if (lane == group++) score = number_of(first) + number_of(second);
    first = second = 0;
    left = together;
  }
  return score;
}
// The same of groups of any size, from shared memory.
__device__ float score_groups(const RouteKernelArgs& args, const float* values) {
  const int lane = threadIdx.x % 32, size = args.experts / args.groups;
  if (lane >= args.groups) return -INFINITY;
  float first = -INFINITY, second = -INFINITY;
  for (int i = 0; i < size; ++i) {
    const float value = values[lane * size + i];
    second = fmaxf(second, fminf(first, value));
    first = fmaxf(first, value);
  }
  return size > 1 ? first + second : first;
}

// Leaves the best groups and forbids all others.
template <int kOwn>
__device__ void keep_best_groups(const RouteKernelArgs& args, std::uint32_t (&keys)[kOwn], float* shared) {
  const int lane = threadIdx.x % 32, size = args.experts / args.groups, together = size / 32;
  const bool wide = size % 32 == 0;
  float score;
  if (wide) {
    score = score_wide_groups(keys, together);
  } else {
#pragma unroll
    for (int i = 0; i < kOwn; ++i) shared[lane + 32 * i] = number_of(keys[i]);
    __syncwarp();
    score = score_groups(args, shared);
    __syncwarp();
  }
  std::uint32_t own = lane < args.groups ? key_of(score) : 0;
  bool kept = false;
  for (int n = 0; n < args.kept_groups; ++n) {
    const bool best = lane == best_lane(own);
    kept |= best;
    if (best) own = 0;
  }
  const unsigned all_kept = __ballot_sync(kAll, kept);
  int group = 0, left = together;
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
    if (!wide) group = (lane + 32 * i) / size;
    if (group < args.groups && (all_kept >> group & 1) == 0) keys[i] = kForbidden;
    if (wide && --left == 0) ++group, left = together;
  }
}

// The expert of slot `lane`. Of equal keys the lower expert wins.
template <int kOwn>
__device__ int choose(const RouteKernelArgs& args, std::uint32_t (&keys)[kOwn]) {
  const int lane = threadIdx.x % 32;
  int chosen = 0;
  for (int n = 0; n < args.chosen; ++n) {
    std::uint32_t own = keys[0];
#pragma unroll
    for (int i = 1; i < kOwn; ++i) own = max(own, keys[i]);
    const std::uint32_t most = __reduce_max_sync(kAll, own);
    unsigned lowest = 32 * kOwn;
#pragma unroll
    for (int i = kOwn - 1; i >= 0; --i) {
      if (keys[i] == most) lowest = lane + 32 * i;
    }
    lowest = __reduce_min_sync(kAll, lowest);
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      if (static_cast<int>(lowest) == lane + 32 * i) keys[i] = kNobody;
    }
    if (lane == n) chosen = static_cast<int>(lowest);
  }
  return chosen;
}

struct Choice {
  int expert;
  float weight;
};

// Lane n has slot n of what a warp decides for its row; kOwn experts a lane, 32 apart.
template <int kOwn>
__device__ Choice decide(const RouteKernelArgs& args, std::int64_t row, float* shared) {
  const int lane = threadIdx.x % 32;
  const auto inside = [&](int i) { return lane + 32 * i < args.experts; };
  float plain[kOwn] = {};  // logits, and what becomes of them
  for (int part = 0; part < args.parts; ++part) {
    const float* logits = args.io.logits + (row * args.parts + part) * args.experts + lane;
#pragma unroll
    for (int i = 0; i < kOwn; ++i) plain[i] += inside(i) ? logits[32 * i] : 0.0f;
  }
  const bool biased = args.io.bias != nullptr;
  bool finite = true;
  std::uint32_t top = kNobody;
  std::uint32_t keys[kOwn];
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
    finite &= static_cast<bool>(isfinite(plain[i]));
    keys[i] = inside(i) ? key_of(plain[i]) : kNobody;
    if (!inside(i)) plain[i] = -INFINITY;  // shares of nothing
    top = max(top, keys[i]);
  }
  if (!finite) atomicMin(args.io.flag, args.io.code);
  const float largest = number_of(__reduce_max_sync(kAll, top));
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
    plain[i] = args.sigmoids ? 1.0f / (1.0f + expf(-plain[i])) : expf(plain[i] - largest);
    sum += plain[i];
  }
  sum = warp_sum(sum);
  // Shares of all experts are divided only where somebody looks at them.
  const bool all_shares = !args.sigmoids && (biased || args.io.entropy != nullptr);
  if (args.io.entropy != nullptr || all_shares) {
    float entropy = 0;
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      const float share = plain[i] / sum;
      if (args.io.entropy != nullptr && share > 0) entropy -= share * logf(share);
      if (all_shares) plain[i] = share;
    }
    entropy = warp_sum(entropy);
    if (args.io.entropy != nullptr && lane == 0) args.io.entropy[row] = entropy;
  }
  if (args.sigmoids || biased) {
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      if (!inside(i)) continue;
      const float value = plain[i] + (biased ? args.io.bias[lane + 32 * i] : 0.0f);
      keys[i] = key_of(value);
      if (!args.sigmoids) plain[i] = value;
    }
  }
  if (args.sigmoids && args.groups > 1) keep_best_groups(args, keys, shared);
#pragma unroll
  for (int i = 0; i < kOwn; ++i) shared[lane + 32 * i] = plain[i];
  __syncwarp();
  const int expert = choose(args, keys);
  float weight = shared[expert];
  __syncwarp();
  if (!args.sigmoids && !all_shares) weight /= sum;
  float chosen_sum = 0;
  for (int n = 0; n < args.chosen; ++n) chosen_sum += __shfl_sync(kAll, weight, n);
  if (args.sigmoids) {
    weight *= args.scale;
    if (args.chosen > 1) weight /= chosen_sum + 1e-20f;
  } else if (args.renormalise) {
    weight /= chosen_sum;
  }
  return {expert, weight};
}

// A block has some rows, kSortRows at a time. Alone it sorts all pairs at once.
template <int kOwn, bool kAlone>
__global__ void __launch_bounds__(kRouteThreads, kOwn <= 4 ? 2 : 1) route_kernel(const RouteKernelArgs args) {
  extern __shared__ float numbers[];  // [warps][32 * kOwn]
  __shared__ std::uint32_t masks[kMostExperts];
  __shared__ int counts[kMostExperts];  // alone: where an expert's pairs begin
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  launch_dependents();
  for (int e = threadIdx.x; e < args.experts; e += blockDim.x) masks[e] = counts[e] = 0;
  __syncthreads();
  wait_for_prior_grid();
  const auto turn = [&](std::int64_t row) {
    Choice choice{};
    const bool has = row < args.io.rows;
    if (has) choice = decide<kOwn>(args, row, numbers + warp * 32 * kOwn);
    const bool chose = has && lane < args.chosen;
    const std::int64_t pair = row * args.chosen + lane;
    if (chose) {
      atomicOr(masks + choice.expert, 1u << warp);
      args.io.experts[pair] = choice.expert;
      args.io.weights[pair] = choice.weight;
    }
    __syncthreads();
    if constexpr (kAlone) {
      sort_block(args.sort, masks, counts, choice.expert);
    } else if (chose) {
      args.io.pairs.place[pair] = counts[choice.expert] + __popc(masks[choice.expert] & ((1u << warp) - 1));
    }
  };
  if constexpr (kAlone) {
    turn(warp);
  } else {
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * args.sort.together;
    for (int i = 0; i < args.sort.together && first + i < args.io.rows; i += kSortRows) {
      turn(first + i + warp);
      __syncthreads();
      for (int e = threadIdx.x; e < args.experts; e += blockDim.x) {
        counts[e] += __popc(masks[e]);
        masks[e] = 0;
      }
      __syncthreads();
    }
    leave_counts(args.sort, counts);
  }
}

}  // namespace

std::int64_t pair_counts(std::int64_t rows, std::int64_t experts) {
  // At least as many as of any fewer rows.
  const std::int64_t blocks = std::max(std::min<std::int64_t>(blocks_of(rows, kSortRows), kSortBlocks),
                                       std::int64_t{blocks_of(rows, kMostRowsTogether)});
  return experts * ((blocks + 3) / 4 * 4);
}

void route_cuda(const Stream& stream, const RouterRule& rule, const DeviceRouteArgs& args) {
  BUOY_CHECK(rule.experts <= kMostExperts && rule.chosen <= std::min(kMostChosen, rule.experts));
  BUOY_CHECK(rule.groups <= kMostExpertGroups && rule.experts % rule.groups == 0);
  BUOY_CHECK(args.rows * rule.chosen < (std::int64_t{1} << 31));
  if (args.rows == 0) return;
  const int experts = static_cast<int>(rule.experts), chosen = static_cast<int>(rule.chosen);
  const SortArgs sort{args.pairs, experts, chosen, rows_together(args.rows), args.rows};
  const RouteKernelArgs all{args,
                            sort,
                            experts,
                            chosen,
                            static_cast<int>(rule.groups),
                            static_cast<int>(rule.kept_groups),
                            static_cast<int>(args.parts),
                            rule.kind == RouterKind::kSigmoidGroups,
                            rule.renormalise,
                            static_cast<float>(rule.scale)};
  const bool alone = args.rows <= kSortRows, early = gpu().major >= 9;
  const auto blocks = static_cast<unsigned>(sort.blocks());
  const auto launch = [&]<int kOwn>() {
    const int threads = alone ? std::max(32 * static_cast<int>(args.rows), kLeastThreads) : kRouteThreads;
    launch_kernel({.grid = dim3(blocks),
                   .block = dim3(static_cast<unsigned>(threads)),
                   .shared_bytes = static_cast<int>(threads * kOwn * sizeof(float)),
                   .early = early},
                  stream, "route", alone ? route_kernel<kOwn, true> : route_kernel<kOwn, false>, all);
  };
  static_assert(kMostExperts == 32 * 16);
  if (experts <= 32) {
    launch.template operator()<1>();
  } else if (experts <= 64) {
    launch.template operator()<2>();
  } else if (experts <= 128) {
    launch.template operator()<4>();
  } else if (experts <= 256) {
    launch.template operator()<8>();
  } else {
    launch.template operator()<16>();
  }
  if (alone) return;
  launch_kernel({.grid = dim3(blocks), .block = kPlaceThreads, .early = early}, stream,
                "sort pairs by expert", place_pairs_kernel, args.experts, sort);
}

}  // namespace buoy::ops
