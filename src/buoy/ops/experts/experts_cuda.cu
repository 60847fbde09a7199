// The router's decision, pairs sorted by expert, and the two ends of the experts: rows gathered, results
// added.

#include "buoy/base/error.h"
#include "buoy/ops/device/bf16.cuh"
#include "buoy/ops/device/launch_cuda.cuh"
#include "buoy/ops/experts/experts_cuda.h"
#include "buoy/ops/experts/grouped_product_cuda.cuh"

namespace buoy::ops {
namespace {

constexpr int kRouteWarps = 4, kSortThreads = 1024, kCopyThreads = 256;

struct RouteKernelArgs {
  DeviceRouteArgs io;
  int experts, chosen, groups, kept_groups, parts;
  bool sigmoids, renormalise;
  float scale;
};

struct Best {
  float value;
  int index;
};

// The larger value; of equal ones the lower index. In every lane.
__device__ Best warp_best(Best own) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const float value = __shfl_xor_sync(0xffffffffu, own.value, offset);
    const int index = __shfl_xor_sync(0xffffffffu, own.index, offset);
    if (value > own.value || (value == own.value && index < own.index)) own = {value, index};
  }
  return own;
}

__device__ float warp_largest(float value) {
  for (int offset = 16; offset > 0; offset /= 2)
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
  return value;
}

// Leaves the best groups; the values of all others become minus infinity. A lane scores a group.
__device__ void keep_best_groups(const RouteKernelArgs& args, float* values) {
  const int lane = threadIdx.x % 32, size = args.experts / args.groups;
  float score = -INFINITY;
  if (lane < args.groups) {
    float first = -INFINITY, second = -INFINITY;
    for (int i = 0; i < size; ++i) {
      const float value = values[lane * size + i];
      second = fmaxf(second, fminf(first, value));
      first = fmaxf(first, value);
    }
    score = size > 1 ? first + second : first;
  }
  bool kept = false;
  for (int n = 0; n < args.kept_groups; ++n) {
    const Best best = warp_best({kept ? -INFINITY : score, kept || lane >= args.groups ? 32 + lane : lane});
    kept |= best.index == lane;
  }
  if (!kept && lane < args.groups) {
    for (int i = 0; i < size; ++i) values[lane * size + i] = -INFINITY;
  }
  __syncwarp();
}

// One warp a row. `values` decide; `plain` become weights.
__global__ void __launch_bounds__(32 * kRouteWarps) route_kernel(const RouteKernelArgs args) {
  extern __shared__ float shared[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRouteWarps + warp;
  if (row >= args.io.rows) return;
  float *values = shared + warp * 2 * args.experts, *plain = values + args.experts;
  float top = -INFINITY;
  bool finite = true;
  for (int e = lane; e < args.experts; e += 32) {
    float logit = 0;
    for (int part = 0; part < args.parts; ++part)
      logit += args.io.logits[(row * args.parts + part) * args.experts + e];
    finite &= isfinite(logit);
    values[e] = logit;
    top = fmaxf(top, logit);
  }
  if (!finite) atomicMin(args.io.flag, args.io.code);
  top = warp_largest(top);
  float sum = 0;
  for (int e = lane; e < args.experts; e += 32) {
    plain[e] = args.sigmoids ? 1.0f / (1.0f + expf(-values[e])) : expf(values[e] - top);
    sum += plain[e];
  }
  sum = warp_sum(sum);
  float entropy = 0;
  for (int e = lane; e < args.experts; e += 32) {
    const float share = plain[e] / sum;
    if (share > 0) entropy -= share * logf(share);
    if (!args.sigmoids) plain[e] = share;
    const float bias = args.io.bias != nullptr ? args.io.bias[e] : 0.0f;
    if (args.sigmoids) {
      values[e] = plain[e] + bias;
    } else if (args.io.bias != nullptr) {
      values[e] = plain[e] += bias;
    }
  }
  __syncwarp();
  if (args.io.entropy != nullptr) {
    entropy = warp_sum(entropy);
    if (lane == 0) args.io.entropy[row] = entropy;
  }
  if (args.sigmoids) keep_best_groups(args, values);
  int own_expert = 0;  // of slot `lane`
  float own_weight = 0, chosen_sum = 0;
  for (int n = 0; n < args.chosen; ++n) {
    Best best = {-INFINITY, args.experts};
    for (int e = lane; e < args.experts; e += 32) {
      if (values[e] > best.value) best = {values[e], e};
    }
    best = warp_best(best);
    // Numbers that are not finite leave no best one; the flag says so, and nobody may read past the experts.
    const int expert = min(best.index, args.experts - 1);
    const float weight = plain[expert];
    chosen_sum += weight;
    if (lane == n) own_expert = expert, own_weight = weight;
    __syncwarp();
    if (lane == 0) values[expert] = -INFINITY;
    __syncwarp();
  }
  if (lane >= args.chosen) return;
  if (args.sigmoids) {
    own_weight *= args.scale;
    if (args.chosen > 1) own_weight /= chosen_sum + 1e-20f;
  } else if (args.renormalise) {
    own_weight /= chosen_sum;
  }
  args.io.experts[row * args.chosen + lane] = own_expert;
  args.io.weights[row * args.chosen + lane] = own_weight;
}

// A block for each expert. A warp has a stretch of the pairs: it counts those of lower experts and its own,
// then places its own behind those of the warps before it.
__global__ void __launch_bounds__(kSortThreads)
    sort_pairs_kernel(const std::int32_t* experts, int pairs, DevicePairs out) {
  constexpr int kWarps = kSortThreads / 32;
  __shared__ int lower[kWarps], owned[kWarps];
  const int expert = blockIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int stretch = ((pairs + kWarps - 1) / kWarps + 31) / 32 * 32;
  const int begin = min(warp * stretch, pairs), end = min(begin + stretch, pairs);
  wait_for_prior_grid();
  int below = 0, own = 0;
#pragma unroll 16
  for (int p = begin + lane; p < end; p += 32) {
    const int chosen = experts[p];
    below += chosen < expert;
    own += chosen == expert;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    below += __shfl_xor_sync(0xffffffffu, below, offset);
    own += __shfl_xor_sync(0xffffffffu, own, offset);
  }
  if (lane == 0) lower[warp] = below, owned[warp] = own;
  __syncthreads();
  int first = 0, at = 0;
#pragma unroll
  for (int i = 0; i < kWarps; ++i) {
    first += lower[i];
    at += i < warp ? owned[i] : 0;
  }
  at += first;
  if (threadIdx.x == 0) {
    out.first[expert] = first;
    if (expert + 1 == gridDim.x) out.first[expert + 1] = pairs;
  }
  if (own == 0) return;
#pragma unroll 8
  for (int base = begin; base < end; base += 32) {
    const int p = base + lane;
    const bool is_own = p < end && experts[p] == expert;
    const unsigned same = __ballot_sync(0xffffffffu, is_own);
    if (is_own) {
      const int place = at + __popc(same & ((1u << lane) - 1));
      out.source[place] = p;
      out.place[p] = place;
    }
    at += __popc(same);
  }
}

// Eight numbers a thread.
__global__ void __launch_bounds__(kCopyThreads)
    gather_kernel(const uint4* input, const std::int32_t* source, int chosen, int pieces, int pairs,
                  uint4* output) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kCopyThreads + threadIdx.x;
  launch_dependents();
  wait_for_prior_grid();
  if (i >= static_cast<std::int64_t>(pairs) * pieces) return;
  const std::int64_t pair = i / pieces, piece = i % pieces;
  output[i] = __ldg(input + static_cast<std::int64_t>(source[pair] / chosen) * pieces + piece);
}

// Eight numbers a thread: sums over the slots of a row, in their order.
__global__ void __launch_bounds__(kCopyThreads)
    add_returned_kernel(const uint4* returned, const std::int32_t* place, const float* weights, int chosen,
                        int pieces, std::int64_t rows, float4* output) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kCopyThreads + threadIdx.x;
  launch_dependents();
  wait_for_prior_grid();
  if (i >= rows * pieces) return;
  const std::int64_t row = i / pieces, piece = i % pieces;
  float sums[8] = {};
  for (int n = 0; n < chosen; ++n) {
    const std::int64_t pair = row * chosen + n;
    const float weight = weights[pair];
    const uint4 eight = __ldcs(returned + static_cast<std::int64_t>(place[pair]) * pieces + piece);
    const std::uint32_t words[4] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const float2 two = unpack_bf16(words[w]);
      sums[2 * w] += weight * two.x;
      sums[2 * w + 1] += weight * two.y;
    }
  }
  float4 low = output[2 * i], high = output[2 * i + 1];
  low.x += sums[0], low.y += sums[1], low.z += sums[2], low.w += sums[3];
  high.x += sums[4], high.y += sums[5], high.z += sums[6], high.w += sums[7];
  output[2 * i] = low;
  output[2 * i + 1] = high;
}

unsigned copy_blocks(std::int64_t count) {
  return static_cast<unsigned>((count + kCopyThreads - 1) / kCopyThreads);
}

bool early() {
  return gpu().major >= 9;
}

void gather(const Stream& stream, const DeviceExpertsArgs& args) {
  const std::int64_t pairs = args.rows * args.chosen, pieces = args.hidden / 8;
  launch_kernel({.grid = dim3(copy_blocks(pairs * pieces)), .block = kCopyThreads, .early = early()}, stream,
                "gather rows for experts", gather_kernel, reinterpret_cast<const uint4*>(args.input),
                args.pairs.source, static_cast<int>(args.chosen), static_cast<int>(pieces),
                static_cast<int>(pairs), reinterpret_cast<uint4*>(args.returned));
}

void add_returned(const Stream& stream, const DeviceExpertsArgs& args) {
  const std::int64_t pieces = args.hidden / 8;
  launch_kernel({.grid = dim3(copy_blocks(args.rows * pieces)), .block = kCopyThreads, .early = early()},
                stream, "add what experts return", add_returned_kernel,
                reinterpret_cast<const uint4*>(args.returned), args.pairs.place, args.weights,
                static_cast<int>(args.chosen), static_cast<int>(pieces), args.rows,
                reinterpret_cast<float4*>(args.output));
}

}  // namespace

void route_cuda(const Stream& stream, const RouterRule& rule, const DeviceRouteArgs& args) {
  BUOY_CHECK(rule.experts <= kMostExperts && rule.chosen <= std::min(kMostChosen, rule.experts));
  BUOY_CHECK(rule.groups <= kMostExpertGroups && rule.experts % rule.groups == 0);
  if (args.rows == 0) return;
  const RouteKernelArgs all{args,
                            static_cast<int>(rule.experts),
                            static_cast<int>(rule.chosen),
                            static_cast<int>(rule.groups),
                            static_cast<int>(rule.kept_groups),
                            static_cast<int>(args.parts),
                            rule.kind == RouterKind::kSigmoidGroups,
                            rule.renormalise,
                            static_cast<float>(rule.scale)};
  const auto blocks = static_cast<unsigned>((args.rows + kRouteWarps - 1) / kRouteWarps);
  launch_kernel({.grid = dim3(blocks),
                 .block = 32 * kRouteWarps,
                 .shared_bytes = static_cast<int>(kRouteWarps * 2 * rule.experts * sizeof(float))},
                stream, "route", route_kernel, all);
}

void sort_pairs_cuda(const Stream& stream, const std::int32_t* experts, std::int64_t pairs,
                     std::int64_t expert_count, const DevicePairs& out) {
  BUOY_CHECK(expert_count <= kMostExperts && pairs < (std::int64_t{1} << 31));
  if (pairs == 0) return;
  launch_kernel({.grid = dim3(static_cast<unsigned>(expert_count)), .block = kSortThreads, .early = early()},
                stream, "sort pairs by expert", sort_pairs_kernel, experts, static_cast<int>(pairs), out);
}

void experts_cuda(const Stream& stream, const DeviceExpertsArgs& args, ExpertsChoice choice,
                  ExpertsPart part) {
  BUOY_CHECK(args.hidden % 8 == 0 && args.width % 8 == 0 && args.experts <= kMostExperts);
  if (args.rows == 0) return;
  const std::int64_t pairs = args.rows * args.chosen;
  const auto wanted = [&](ExpertsPart which) { return part == ExpertsPart::kAll || part == which; };
  const auto multiply = [&](const GroupedProduct& product) {
    if (choice == ExpertsChoice::kByShape && hopper_can_multiply_grouped(product)) {
      multiply_grouped_hopper(stream, product);
    } else {
      multiply_grouped_general(stream, product);
    }
  };
  if (wanted(ExpertsPart::kGateUp)) {
    if (!kGathersInside) gather(stream, args);
    multiply({.input = kGathersInside ? args.input : args.returned,
              .source = kGathersInside ? args.pairs.source : nullptr,
              .chosen = args.chosen,
              .weight = args.gate_up,
              .first = args.pairs.first,
              .pairs = pairs,
              .experts = args.experts,
              .inputs = args.hidden,
              .outputs = 2 * args.width,
              .swiglu = true,
              .output = args.activated});
  }
  if (wanted(ExpertsPart::kDown)) {
    multiply({.input = args.activated,
              .weight = args.down,
              .first = args.pairs.first,
              .pairs = pairs,
              .experts = args.experts,
              .inputs = args.width,
              .outputs = args.hidden,
              .output = args.returned});
  }
  if (wanted(ExpertsPart::kSums)) add_returned(stream, args);
}

}  // namespace buoy::ops
