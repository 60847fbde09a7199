// A persistent, warp-specialised kernel with the factors changed about: rows of the weight are the rows of a
// tile, the few rows of the input its columns. All multiprocessors read the same number of weights: the steps
// of all tiles stand in one row, and each thread block takes its stretch of it (stream-K). Where several
// blocks share a tile, each leaves its sums, and the last to come adds them in the order of the blocks. So
// the bits depend on neither time nor the number of rows.
//
// A block takes less than half of a multiprocessor's shared memory: the next product of the stream loads its
// first weights beside it (programmatic dependent launch), and small kernels find room.

#include <algorithm>

#include "buoy/ops/device/launch_cuda.cuh"
#include "buoy/ops/device/tensor_map_cuda.cuh"
#include "buoy/ops/device/wgmma_cuda.cuh"
#include "buoy/ops/linear/linear_few_rows_cuda.cuh"

namespace buoy::ops {
namespace {

constexpr int kTileWeights = 128, kTileInputs = 64, kConsumers = 256, kThreads = kConsumers + 32;
constexpr int kMostTiles = 1 << 14, kLeastSteps = 4;

struct KernelArgs {
  CUtensorMap weight, input;
  int rows, outputs, tiles, steps_of_tile;
  void* output;
  float* sums;  // [2 * blocks, kRows * kTileWeights]
  std::int32_t* come;
};

template <int kRows>
struct Storage {
  static constexpr int kWeight = kTileWeights * kTileInputs, kInput = kRows * kTileInputs;
  static constexpr std::uint32_t kStageBytes = 2 * (kWeight + kInput);
  static constexpr int kStages = std::min(6, 108 * 1024 / static_cast<int>(kStageBytes));
  std::uint16_t weight[kStages][kWeight];
  std::uint16_t input[kStages][kInput];
  std::uint64_t full[kStages], empty[kStages];
  std::int32_t is_last;
};

// Steps before those of a block, of all tiles' steps.
__host__ __device__ inline int first_step(int block, int blocks, int steps) {
  return static_cast<int>(static_cast<std::int64_t>(block) * steps / blocks);
}
__device__ inline int block_of_step(int step, int blocks, int steps) {
  return static_cast<int>((static_cast<std::int64_t>(step + 1) * blocks - 1) / steps);
}

#ifdef BUOY_HAS_WGMMA

__device__ inline float silu_times(float gate, float up) {
  return __fdividef(gate, 1.0f + __expf(-gate)) * up;
}

template <int kRows>
__device__ void produce(Storage<kRows>& smem, const KernelArgs& args, int begin, int end) {
  constexpr int kStages = Storage<kRows>::kStages;
  const auto load_weight = [&](int stage, int step) {
    mbarrier_arrive_expect_tx(&smem.full[stage], Storage<kRows>::kStageBytes);
    tma_load(smem.weight[stage], &args.weight, &smem.full[stage], step % args.steps_of_tile * kTileInputs,
             step / args.steps_of_tile * kTileWeights);
  };
  const auto load_input = [&](int stage, int step) {
    tma_load(smem.input[stage], &args.input, &smem.full[stage], step % args.steps_of_tile * kTileInputs, 0);
  };
  // Nothing on the GPU writes weights: they are loaded before the kernel in front has written the inputs.
  const int early = min(end - begin, kStages);
  for (int i = 0; i < early; ++i) load_weight(i, begin + i);
  wait_for_prior_grid();
  for (int i = 0; i < early; ++i) load_input(i, begin + i);
  int stage = early % kStages;
  std::uint32_t phase = early == kStages ? 1 : 0;
  for (int step = begin + early; step < end; ++step) {
    mbarrier_wait(&smem.empty[stage], phase ^ 1);
    load_weight(stage, step);
    load_input(stage, step);
    if (++stage == kStages) stage = 0, phase ^= 1;
  }
}

// What becomes of a thread's sums of a tile: number 4 j + 2 h + e is that of the weight row lane / 4 + 8 h of
// its warp's 16 and of the input row 8 j + 2 (lane % 4) + e.
template <LinearOutput kKind, int kRows>
__device__ void write_sums(const float (&sums)[kRows / 2], const KernelArgs& args, int tile) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int first = tile * kTileWeights + warp * 16;
#pragma unroll
  for (int j = 0; j < kRows / 8; ++j) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int row = 8 * j + 2 * (lane % 4) + e;
      if (row >= args.rows) continue;
      if constexpr (kKind == LinearOutput::kSwiglu) {
        // Rows 0 to 7 of a warp's 16 are those of the gate, the others those of up.
        const int column = first / 2 + lane / 4, columns = args.outputs / 2;
        if (column >= columns) continue;
        static_cast<__nv_bfloat16*>(args.output)[static_cast<std::int64_t>(row) * columns + column] =
            __float2bfloat16(silu_times(sums[4 * j + e], sums[4 * j + 2 + e]));
      } else {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const int column = first + lane / 4 + 8 * h;
          if (column >= args.outputs) continue;
          const std::int64_t at = static_cast<std::int64_t>(row) * args.outputs + column;
          const float sum = sums[4 * j + 2 * h + e];
          if constexpr (kKind == LinearOutput::kBf16) {
            static_cast<__nv_bfloat16*>(args.output)[at] = __float2bfloat16(sum);
          } else if constexpr (kKind == LinearOutput::kAddFloat) {
            static_cast<float*>(args.output)[at] += sum;
          } else {
            static_cast<float*>(args.output)[at] = sum;
          }
        }
      }
    }
  }
}

// Leaves a block's sums of a tile that it shares. True in the block that comes last: its sums are then those
// of all.
template <int kRows>
__device__ bool join_sums(Storage<kRows>& smem, float (&sums)[kRows / 2], const KernelArgs& args, int tile) {
  const int blocks = gridDim.x, steps = args.tiles * args.steps_of_tile;
  const auto place = [&](int block) {
    // A block shares its first tile, its last, or both.
    const bool first = first_step(block, blocks, steps) / args.steps_of_tile == tile;
    return args.sums + (2 * static_cast<std::int64_t>(block) + (first ? 0 : 1)) * kRows * kTileWeights;
  };
  float* own = place(blockIdx.x);
#pragma unroll
  for (int i = 0; i < kRows / 2; ++i) __stcg(own + i * kConsumers + threadIdx.x, sums[i]);
  __threadfence();
  named_barrier_sync(1, kConsumers);
  const int from = block_of_step(tile * args.steps_of_tile, blocks, steps),
            to = block_of_step((tile + 1) * args.steps_of_tile - 1, blocks, steps);
  if (threadIdx.x == 0) smem.is_last = atomicAdd(args.come + tile, 1) == to - from;
  named_barrier_sync(1, kConsumers);
  const bool last = smem.is_last != 0;
  if (last) {
    __threadfence();
    if (threadIdx.x == 0) args.come[tile] = 0;
#pragma unroll
    for (int i = 0; i < kRows / 2; ++i) sums[i] = 0;
    for (int block = from; block <= to; ++block) {
      const float* part = place(block);
#pragma unroll
      for (int i = 0; i < kRows / 2; ++i) sums[i] += __ldcg(part + i * kConsumers + threadIdx.x);
    }
  }
  named_barrier_sync(1, kConsumers);  // before is_last is written again
  return last;
}

template <LinearOutput kKind, int kRows>
__device__ void consume(Storage<kRows>& smem, const KernelArgs& args, int begin, int end) {
  constexpr int kStages = Storage<kRows>::kStages;
  const int group = threadIdx.x / 128;
  const std::uint64_t weights = moved_by(operand(smem.weight[0]), group * 64 * 128),
                      inputs = operand(smem.input[0]);
  int stage = 0;
  std::uint32_t phase = 0;
  for (int step = begin; step < end;) {
    const int tile = step / args.steps_of_tile, tile_end = min(end, (tile + 1) * args.steps_of_tile);
    const bool whole = step == tile * args.steps_of_tile && tile_end == step + args.steps_of_tile;
    float sums[kRows / 2];
    int last = -1;
    for (bool adds = false; step < tile_end; ++step, adds = true) {
      mbarrier_wait(&smem.full[stage], phase);
      const std::uint64_t a = moved_by(weights, stage * sizeof(smem.weight[0])),
                          b = moved_by(inputs, stage * sizeof(smem.input[0]));
      wgmma_fence();
#pragma unroll
      for (int i = 0; i < kTileInputs / 16; ++i)
        multiply_tile(sums, moved_by(a, 32 * i), moved_by(b, 32 * i), adds || i > 0);
      wgmma_commit();
      wgmma_wait<1>();
      if (last >= 0) mbarrier_arrive_per_warp(&smem.empty[last]);
      last = stage;
      if (++stage == kStages) stage = 0, phase ^= 1;
    }
    wgmma_wait<0>();
    wgmma_fence_results(sums);
    mbarrier_arrive_per_warp(&smem.empty[last]);
    if (whole || join_sums<kRows>(smem, sums, args, tile)) write_sums<kKind, kRows>(sums, args, tile);
  }
}

#endif

template <LinearOutput kKind, int kRows>
__global__ void __launch_bounds__(kThreads, 2) few_rows(const __grid_constant__ KernelArgs args) {
#ifdef BUOY_HAS_WGMMA
  extern __shared__ __align__(1024) unsigned char shared[];
  auto& smem = *reinterpret_cast<Storage<kRows>*>(shared);
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < Storage<kRows>::kStages; ++stage) {
      mbarrier_init(&smem.full[stage], 1);
      mbarrier_init(&smem.empty[stage], kConsumers / 32);
    }
    mbarrier_init_fence();
  }
  __syncthreads();
  launch_dependents();
  const int steps = args.tiles * args.steps_of_tile;
  const int begin = first_step(blockIdx.x, gridDim.x, steps),
            end = first_step(blockIdx.x + 1, gridDim.x, steps);
  if (threadIdx.x >= kConsumers) {
    if (threadIdx.x == kConsumers) produce<kRows>(smem, args, begin, end);
  } else {
    wait_for_prior_grid();
    consume<kKind, kRows>(smem, args, begin, end);
  }
#endif
}

int tiles(std::int64_t count, int size) {
  return static_cast<int>((count + size - 1) / size);
}

template <LinearOutput kKind, int kRows>
void launch(const Stream& stream, const DeviceLinearArgs& args, const FewRowsScratch::Place& scratch) {
  KernelArgs all{};
  all.weight = matrix_map(args.weight, args.inputs, args.outputs, kTileWeights);
  all.input = matrix_map(args.input, args.inputs, args.rows, kRows);
  all.rows = static_cast<int>(args.rows);
  all.outputs = static_cast<int>(args.outputs);
  all.tiles = tiles(args.outputs, kTileWeights);
  all.steps_of_tile = tiles(args.inputs, kTileInputs);
  all.output = args.output;
  all.sums = scratch.sums;
  all.come = scratch.come;
  const int blocks = std::min(gpu().multiprocessors, tiles(all.tiles * all.steps_of_tile, kLeastSteps));
  launch_kernel({.grid = dim3(static_cast<unsigned>(blocks)),
                 .block = kThreads,
                 .shared_bytes = sizeof(Storage<kRows>),
                 .early = true},
                stream, "few_rows", few_rows<kKind, kRows>, all);
}

template <LinearOutput kKind>
void launch(const Stream& stream, const DeviceLinearArgs& args, const FewRowsScratch::Place& scratch) {
  if (args.rows <= 16) return launch<kKind, 16>(stream, args, scratch);
  if (args.rows <= 32) return launch<kKind, 32>(stream, args, scratch);
  launch<kKind, 64>(stream, args, scratch);
}

bool aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
}

}  // namespace

FewRowsScratch::Place FewRowsScratch::place(const Stream& stream) {
  constexpr std::size_t kCome = kMostTiles * sizeof(std::int32_t),
                        kBlockSums = 2 * kMostFewRows * kTileWeights * sizeof(float);
  const std::size_t sums = static_cast<std::size_t>(gpu().multiprocessors) * kBlockSums;
  if (memory_.bytes() == 0) {
    memory_.reserve(sums + kCome);
    fill_bytes(stream, memory_.as<std::byte>() + sums, 0, kCome);
  }
  return {memory_.as<float>(), reinterpret_cast<std::int32_t*>(memory_.as<std::byte>() + sums)};
}

bool few_rows_can_multiply(const DeviceLinearArgs& args) {
  const bool kind = args.kind == LinearOutput::kBf16 || args.kind == LinearOutput::kFloat ||
                    args.kind == LinearOutput::kAddFloat ||
                    (args.kind == LinearOutput::kSwiglu && args.outputs % 16 == 0);
  return kind && gpu().major == 9 && gpu().minor == 0 && args.rows <= kMostFewRows && args.inputs % 8 == 0 &&
         args.outputs <= static_cast<std::int64_t>(kMostTiles) * kTileWeights &&
         args.outputs * args.inputs / (kTileWeights * kTileInputs) < INT32_MAX / 4 && aligned(args.input) &&
         aligned(args.weight);
}

void multiply_few_rows(const Stream& stream, const DeviceLinearArgs& args, FewRowsScratch& scratch) {
  const auto place = scratch.place(stream);
  switch (args.kind) {
    case LinearOutput::kBf16:
      return launch<LinearOutput::kBf16>(stream, args, place);
    case LinearOutput::kFloat:
      return launch<LinearOutput::kFloat>(stream, args, place);
    case LinearOutput::kAddFloat:
      return launch<LinearOutput::kAddFloat>(stream, args, place);
    case LinearOutput::kSwiglu:
      return launch<LinearOutput::kSwiglu>(stream, args, place);
    case LinearOutput::kQkv:
    case LinearOutput::kBest:
      BUOY_CHECK(false);
  }
}

}  // namespace buoy::ops
