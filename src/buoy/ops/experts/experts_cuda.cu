// The two products of experts, and the ends of them: rows gathered, results added.

#include "buoy/base/error.h"
#include "buoy/ops/device/bf16.cuh"
#include "buoy/ops/device/launch_cuda.cuh"
#include "buoy/ops/experts/experts_cuda.h"
#include "buoy/ops/experts/grouped_product_cuda.cuh"
#include "buoy/ops/experts/returned_sums_cuda.cuh"

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

// Eight numbers a thread. Columns come in `parts`; `progress` says how many rows of each but the last have
// been added up before.
template <bool kFew>
__global__ void __launch_bounds__(kFew ? kFewCopyThreads : kCopyThreads, kFew ? 1 : 4)
    add_returned_kernel(const ReturnedSums all, int parts, std::int32_t* progress) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  launch_dependents();
  wait_for_prior_grid();
  // The first product counts from zero once more, should there be no sorting in front of it.
  if (i == 0 && progress != nullptr) progress[2 * kMostColumnParts] = 0;
  if (i >= all.rows * all.pieces) return;
  const std::int64_t pieces = all.pieces / parts, part = i / (pieces * all.rows),
                     left = i - part * pieces * all.rows, row = left / pieces;
  if (part + 1 < parts && row < progress[kMostColumnParts + part]) return;
  add_returned_piece<kFew ? 8 : 4>(all, row, static_cast<int>(part * pieces + left % pieces));
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

ReturnedSums sums_of(const DeviceExpertsArgs& args) {
  return {reinterpret_cast<const uint4*>(args.returned),
          args.pairs.place,
          args.weights,
          static_cast<int>(args.chosen),
          static_cast<int>(args.hidden / 8),
          args.rows,
          reinterpret_cast<float4*>(args.output)};
}

void add_returned(const Stream& stream, const DeviceExpertsArgs& args, int parts, std::int32_t* progress) {
  const std::int64_t count = args.rows * args.hidden / 8;
  const bool few = count <= gpu().multiprocessors * kCopyThreads;
  const int threads = few ? kFewCopyThreads : kCopyThreads;
  launch_kernel({.grid = dim3(static_cast<unsigned>((count + threads - 1) / threads)),
                 .block = dim3(static_cast<unsigned>(threads)),
                 .early = early()},
                stream, "add what experts return",
                few ? add_returned_kernel<true> : add_returned_kernel<false>, sums_of(args), parts, progress);
}

}  // namespace

void experts_cuda(const Stream& stream, const DeviceExpertsArgs& args, ExpertsChoice choice,
                  ExpertsPart part) {
  BUOY_CHECK(args.hidden % 8 == 0 && args.width % 8 == 0 && args.experts <= kMostExperts);
  if (args.rows == 0) return;
  const std::int64_t pairs = args.rows * args.chosen;
  const auto wanted = [&](ExpertsPart which) { return part == ExpertsPart::kAll || part == which; };
  const auto on_hopper = [&](const GroupedProduct& product) {
    return choice == ExpertsChoice::kByShape && hopper_can_multiply_grouped(product);
  };
  const auto multiply = [&](const GroupedProduct& product) {
    if (on_hopper(product)) {
      multiply_grouped_hopper(stream, product);
    } else {
      multiply_grouped_general(stream, product);
    }
  };
  GroupedProduct first{.input = kGathersInside ? args.input : args.returned,
                       .source = kGathersInside ? args.pairs.source : nullptr,
                       .chosen = args.chosen,
                       .weight = args.gate_up,
                       .first = args.pairs.first,
                       .pairs = pairs,
                       .experts = args.experts,
                       .inputs = args.hidden,
                       .outputs = 2 * args.width,
                       .swiglu = true,
                       .output = args.activated,
                       .lead = args.lead,
                       .weights_leave_first = args.weights_leave_first};
  GroupedProduct second{.input = args.activated,
                        .weight = args.down,
                        .first = args.pairs.first,
                        .pairs = pairs,
                        .experts = args.experts,
                        .inputs = args.width,
                        .outputs = args.hidden,
                        .output = args.returned,
                        .lead = args.lead,
                        .weights_leave_first = args.weights_leave_first};
  const bool overlap = part == ExpertsPart::kAll && args.pairs.progress != nullptr &&
                       args.rows >= args.overlap_from && kGathersInside && on_hopper(first) &&
                       on_hopper(second);
  const int parts =
      overlap && hopper_can_divide_columns(args.hidden, args.column_parts) ? args.column_parts : 1;
  if (overlap) {
    first.progress = second.progress = args.pairs.progress;
    if (args.begin_early) second.outputs_before = first.outputs, second.inputs_before = first.inputs;
    second.column_parts = parts;
    second.sums = sums_of(args);
  }
  if (wanted(ExpertsPart::kGateUp)) {
    if (!kGathersInside) gather(stream, args);
    multiply(first);
  }
  if (wanted(ExpertsPart::kDown)) multiply(second);
  if (wanted(ExpertsPart::kSums)) add_returned(stream, args, parts, second.progress);
}

}  // namespace buoy::ops
