// The two products of experts, and the ends of them: rows gathered, results added.

#include "buoy/base/error.h"
#include "buoy/ops/device/bf16.cuh"
#include "buoy/ops/device/launch_cuda.cuh"
#include "buoy/ops/experts/experts_cuda.h"
#include "buoy/ops/experts/grouped_product_cuda.cuh"

namespace buoy::ops {
namespace {

// Of few rows each multiprocessor has a part.
constexpr int kCopyThreads = 256, kFewCopyThreads = 64;

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

struct ReturnedSums {
  const uint4* returned;      // bf16 [pairs, 8 * pieces]
  const std::int32_t* place;  // [rows * chosen]: where a pair stands among them
  const float* weights;       // [rows * chosen]
  int chosen, pieces;
  std::int64_t rows;
  float4* output;  // [rows, 8 * pieces]
};

// Eight numbers of a row a thread: sums over its slots, in their order, and what stands in the output. All
// that is returned is asked for before it is summed, kTogether slots at once.
template <bool kFew>
__global__ void __launch_bounds__(kFew ? kFewCopyThreads : kCopyThreads, kFew ? 1 : 4)
    add_returned_kernel(const ReturnedSums all) {
  constexpr int kTogether = kFew ? 8 : 4;
  const std::uint32_t number = blockIdx.x * blockDim.x + threadIdx.x,
                      row = number / static_cast<std::uint32_t>(all.pieces),
                      piece = number - row * static_cast<std::uint32_t>(all.pieces);
  launch_dependents();
  wait_for_prior_grid();
  if (row >= all.rows) return;
  const std::int64_t i = number;
  float4 low = all.output[2 * i], high = all.output[2 * i + 1];
  float sums[8] = {};
  for (int first = 0; first < all.chosen; first += kTogether) {
    const auto inside = [&](int n) { return first + n < all.chosen; };
    const std::int64_t pair = static_cast<std::int64_t>(row) * all.chosen + first;
    int at[kTogether];
    uint4 eight[kTogether];
#pragma unroll
    for (int n = 0; n < kTogether; ++n) {
      if (inside(n)) at[n] = all.place[pair + n];
    }
#pragma unroll
    for (int n = 0; n < kTogether; ++n) {
      if (inside(n)) eight[n] = __ldcs(all.returned + static_cast<std::int64_t>(at[n]) * all.pieces + piece);
    }
#pragma unroll
    for (int n = 0; n < kTogether; ++n) {
      if (!inside(n)) continue;
      const float weight = all.weights[pair + n];
      const std::uint32_t words[4] = {eight[n].x, eight[n].y, eight[n].z, eight[n].w};
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const float2 two = unpack_bf16(words[w]);
        sums[2 * w] += weight * two.x;
        sums[2 * w + 1] += weight * two.y;
      }
    }
  }
  low.x += sums[0], low.y += sums[1], low.z += sums[2], low.w += sums[3];
  high.x += sums[4], high.y += sums[5], high.z += sums[6], high.w += sums[7];
  all.output[2 * i] = low;
  all.output[2 * i + 1] = high;
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
  const ReturnedSums sums{reinterpret_cast<const uint4*>(args.returned),
                          args.pairs.place,
                          args.weights,
                          static_cast<int>(args.chosen),
                          static_cast<int>(args.hidden / 8),
                          args.rows,
                          reinterpret_cast<float4*>(args.output)};
  const std::int64_t count = args.rows * args.hidden / 8;
  BUOY_CHECK(count < (std::int64_t{1} << 31));
  const bool few = count <= gpu().multiprocessors * kCopyThreads;
  const int threads = few ? kFewCopyThreads : kCopyThreads;
  launch_kernel({.grid = dim3(static_cast<unsigned>((count + threads - 1) / threads)),
                 .block = dim3(static_cast<unsigned>(threads)),
                 .early = early()},
                stream, "add what experts return",
                few ? add_returned_kernel<true> : add_returned_kernel<false>, sums);
}

}  // namespace

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
