// The products of experts on Hopper: a persistent, warp-specialised kernel as that of
// linear_hopper_kernel_cuda.cuh, with the factors changed about. Rows of the weight are the rows of a tile
// (256 of them) and the pairs of an expert its columns, since WGMMA is free in the number of columns alone:
// an expert that 270 rows chose costs 288, not 512. Two blocks of a cluster take neighbouring pairs of one
// expert and share its weights (TMA multicast).
//
// A result's sums are formed in the same order whatever the tile.

#include <algorithm>
#include <array>
#include <cmath>

#include "buoy/base/error.h"
#include "buoy/ops/device/launch_cuda.cuh"
#include "buoy/ops/device/tensor_map_cuda.cuh"
#include "buoy/ops/device/wgmma_cuda.cuh"
#include "buoy/ops/experts/grouped_product_cuda.cuh"

namespace buoy::ops {
namespace {

constexpr int kThreads = 384, kWeightRows = 256, kTileInputs = 64, kConsumers = 2;

struct KernelArgs {
  CUtensorMap weight, input, output;  // of the output, eight pairs by 64 columns
  const std::int32_t* first;          // [experts + 1]
  int experts, weight_rows, weight_tiles, input_tiles;
  int columns;  // of the output
  std::uint16_t* results;
};

template <int kPairs>
struct Storage {
  static constexpr int kWeight = kWeightRows * kTileInputs, kInput = kPairs * kTileInputs;
  static constexpr std::uint32_t kStageBytes = 2 * (kWeight + kInput);
  static constexpr int kPanel = kPairs * 64;  // a warpgroup's results on their way out: 64 columns
  static constexpr int kBuffers = kPairs > 144 ? 1 : 2;
  static constexpr int kRoom =
      225 * 1024 - 2 * kConsumers * kBuffers * kPanel - 4 * (static_cast<int>(kMostExperts) + 1);
  static constexpr int kStages = std::min(6, kRoom / static_cast<int>(kStageBytes));
  std::uint16_t weight[kStages][kWeight];
  std::uint16_t input[kStages][kInput];
  std::uint16_t panel[kConsumers][kBuffers][kPanel];
  std::uint64_t full[kStages], empty[kStages];
  std::int32_t before[kMostExperts + 1];  // tiles before those of an expert
};

#ifdef BUOY_HAS_WGMMA

// What a block works at: a tile of one expert.
struct Work {
  int expert, weight_tile;
  int row;   // of the sorted pairs
  int left;  // pairs of the expert from there on; may be none for the second block of a cluster
};

template <int kPairs, int kCluster>
__device__ Work work_of(const KernelArgs& args, const std::int32_t* before, int index, int rank) {
  const int tile = index / args.weight_tiles;
  Work work;
  work.expert = expert_of_tile(before, args.experts, tile);
  work.weight_tile = index % args.weight_tiles;
  const int begin = args.first[work.expert];
  work.row = begin + ((tile - before[work.expert]) * kCluster + rank) * kPairs;
  work.left = args.first[work.expert + 1] - work.row;
  return work;
}

template <int kPairs, int kCluster>
__device__ void produce(Storage<kPairs>& smem, const KernelArgs& args, int rank, int first, int step) {
  constexpr int kStages = Storage<kPairs>::kStages, kPart = kWeightRows / kCluster;
  const int all = smem.before[args.experts] * args.weight_tiles;
  int stage = 0;
  std::uint32_t phase = 0;
  for (int index = first; index < all; index += step) {
    const Work work = work_of<kPairs, kCluster>(args, smem.before, index, rank);
    const int weight_row = work.expert * args.weight_rows + work.weight_tile * kWeightRows;
    for (int k = 0; k < args.input_tiles; ++k) {
      mbarrier_wait(&smem.empty[stage], phase ^ 1);
      mbarrier_arrive_expect_tx(&smem.full[stage], Storage<kPairs>::kStageBytes);
      const int x = k * kTileInputs;
      if constexpr (kCluster == 2) {
        tma_load_multicast(0b11, smem.weight[stage] + rank * kPart * kTileInputs, &args.weight,
                           &smem.full[stage], x, weight_row + rank * kPart);
      } else {
        tma_load(smem.weight[stage], &args.weight, &smem.full[stage], x, weight_row);
      }
      tma_load(smem.input[stage], &args.input, &smem.full[stage], x, work.row);
      if (++stage == kStages) stage = 0, phase ^= 1;
    }
  }
}

__device__ inline void store_transposed(void* row, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                        std::uint32_t d) {
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};\n" ::"r"(shared_address(row)),
      "r"(a), "r"(b), "r"(c), "r"(d)
      : "memory");
}
__device__ inline void store_transposed(void* row, std::uint32_t a, std::uint32_t b) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};\n" ::"r"(shared_address(row)),
               "r"(a), "r"(b)
               : "memory");
}

__device__ inline float silu_times(float gate, float up) {
  return __fdividef(gate, 1.0f + __expf(-gate)) * up;
}

// Piece `piece` (eight columns) of a pair in a panel of 64 columns, in a swizzle that keeps banks apart.
__device__ inline std::uint16_t* in_panel(std::uint16_t* panel, int pair, int piece) {
  return panel + pair * 64 + ((piece ^ pair) & 7) * 8;
}

// Sums [64 rows of the weight, kPairs] of a warpgroup into a panel [kPairs, 64], or 32 columns of it where
// gate and up become one.
template <int kPairs, bool kSwiglu>
__device__ void fill_panel(std::uint16_t* panel, const float (&sums)[kPairs / 2], int block) {
  const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
#pragma unroll
  for (int b = 0; b < kPairs / 8; b += 2) {
    if constexpr (kSwiglu) {
      // Rows 0 to 7 of a warp's 16 are those of the gate, the others those of up.
      std::uint32_t words[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const float* four = sums + 4 * (b + i);
        words[i] = pack_bf16(silu_times(four[0], four[2]), silu_times(four[1], four[3]));
      }
      const int matrix = lane / 8 % 2;
      store_transposed(in_panel(panel, 8 * (b + matrix) + lane % 8, block * 4 + warp), words[0], words[1]);
    } else {
      const float* eight = sums + 4 * b;
      const int matrix = lane / 8;
      store_transposed(in_panel(panel, 8 * (b + matrix / 2) + lane % 8, warp * 2 + matrix % 2),
                       pack_bf16(eight[0], eight[1]), pack_bf16(eight[2], eight[3]),
                       pack_bf16(eight[4], eight[5]), pack_bf16(eight[6], eight[7]));
    }
  }
}

// Waits until the panel that was sent kBuffers times ago has been read. For all threads of a warpgroup.
template <int kPairs>
__device__ void wait_for_panel() {
  if (threadIdx.x % 128 < 32) tma_store_wait_read<Storage<kPairs>::kBuffers - 1>();
  named_barrier_sync(threadIdx.x / 128, 128);
}

// A panel to the output, as far as the expert's pairs and the columns go: eight pairs at a time by TMA, the
// rest of them by hand, since behind it another expert's results stand. Returns before it has been read.
template <int kPairs>
__device__ void send_panel(std::uint16_t* panel, const KernelArgs& args, const Work& work, int column) {
  const int pairs = min(work.left, kPairs), whole = pairs / 8 * 8, thread = threadIdx.x % 128;
  fence_async_proxy();
  named_barrier_sync(threadIdx.x / 128, 128);
  if (thread < 32) {
    static_assert(kPairs / 8 <= 32);
    if (8 * thread < whole && column < args.columns)
      tma_store(&args.output, panel + 8 * thread * 64, column, work.row + 8 * thread);
    tma_store_commit();
  }
  for (int i = thread; i < (pairs - whole) * 8; i += 128) {
    const int pair = whole + i / 8, piece = i % 8, to = column + piece * 8;
    if (to >= args.columns) continue;
    const uint4 eight = *reinterpret_cast<const uint4*>(in_panel(panel, pair, piece));
    *reinterpret_cast<uint4*>(args.results + static_cast<std::int64_t>(work.row + pair) * args.columns + to) =
        eight;
  }
}

template <int kPairs, int kCluster, bool kSwiglu>
__device__ void consume(Storage<kPairs>& smem, const KernelArgs& args, int rank, int first, int step) {
  constexpr int kStages = Storage<kPairs>::kStages;
  const int group = threadIdx.x / 128 - 1, lane = threadIdx.x % 32;
  const int all = smem.before[args.experts] * args.weight_tiles;
  const std::uint64_t weights = moved_by(operand(smem.weight[0]), group * 128 * 128),
                      inputs = operand(smem.input[0]);
  int buffer = 0;
  const auto next_panel = [&] {
    wait_for_panel<kPairs>();
    std::uint16_t* panel = smem.panel[group][buffer];
    if (++buffer == Storage<kPairs>::kBuffers) buffer = 0;
    return panel;
  };
  const auto release = [&](int stage) {
    __syncwarp();
    if (lane < kCluster) mbarrier_arrive_remote(&smem.empty[stage], lane);
  };
  int stage = 0;
  std::uint32_t phase = 0;
  const auto advance = [&] {
    if (++stage == kStages) stage = 0, phase ^= 1;
  };
  for (int index = first; index < all; index += step) {
    const Work work = work_of<kPairs, kCluster>(args, smem.before, index, rank);
    if (work.left <= 0) {  // the other block's half of the weights comes here all the same
      for (int k = 0; k < args.input_tiles; ++k, advance()) {
        mbarrier_wait(&smem.full[stage], phase);
        release(stage);
      }
      continue;
    }
    float sums[2][kPairs / 2];
    int last = 0;
    for (int k = 0; k < args.input_tiles; ++k, advance()) {
      mbarrier_wait(&smem.full[stage], phase);
      const std::uint64_t a = moved_by(weights, stage * sizeof(smem.weight[0])),
                          b = moved_by(inputs, stage * sizeof(smem.input[0]));
      wgmma_fence();
#pragma unroll
      for (int i = 0; i < kTileInputs / 16; ++i) {
#pragma unroll
        for (int block = 0; block < 2; ++block)
          multiply_tile(sums[block], moved_by(a, block * 64 * 128 + 32 * i), moved_by(b, 32 * i),
                        k > 0 || i > 0);
      }
      wgmma_commit();
      wgmma_wait<1>();
      if (k > 0) release(last);
      last = stage;
    }
    wgmma_wait<0>();
    wgmma_fence_results(sums[0]);
    wgmma_fence_results(sums[1]);
    release(last);
    const int tile_row = work.weight_tile * kWeightRows + group * 128;
    if constexpr (kSwiglu) {
      std::uint16_t* panel = next_panel();
      fill_panel<kPairs, true>(panel, sums[0], 0);
      fill_panel<kPairs, true>(panel, sums[1], 1);
      send_panel<kPairs>(panel, args, work, tile_row / 2);
    } else {
#pragma unroll
      for (int block = 0; block < 2; ++block) {
        std::uint16_t* panel = next_panel();
        fill_panel<kPairs, false>(panel, sums[block], 0);
        send_panel<kPairs>(panel, args, work, tile_row + 64 * block);
      }
    }
  }
  if (threadIdx.x % 128 < 32) tma_store_wait();
}

#endif

template <int kPairs, int kCluster, bool kSwiglu>
__global__ void __launch_bounds__(kThreads, 1) grouped_hopper(const __grid_constant__ KernelArgs args) {
#ifdef BUOY_HAS_WGMMA
  extern __shared__ __align__(1024) unsigned char shared[];
  auto& smem = *reinterpret_cast<Storage<kPairs>*>(shared);
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < Storage<kPairs>::kStages; ++stage) {
      mbarrier_init(&smem.full[stage], 1);
      mbarrier_init(&smem.empty[stage], 4 * kConsumers * kCluster);
    }
    mbarrier_init_fence();
  }
  launch_dependents();
  wait_for_prior_grid();
  if (threadIdx.x < 32) count_tiles_before(smem.before, args.first, args.experts, kPairs * kCluster);
  __syncthreads();
  cluster_sync();
  const int rank = kCluster == 1 ? 0 : static_cast<int>(cluster_rank());
  const int first = blockIdx.x / kCluster, step = gridDim.x / kCluster;
  if (threadIdx.x < 128) {
    setmaxnreg_dec<24>();
    if (threadIdx.x == 0) produce<kPairs, kCluster>(smem, args, rank, first, step);
  } else {
    setmaxnreg_inc<240>();
    consume<kPairs, kCluster, kSwiglu>(smem, args, rank, first, step);
  }
  // Nobody leaves while the other block may still reach into its shared memory.
  cluster_sync();
#endif
}

bool aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
}

template <int kPairs, int kCluster, bool kSwiglu>
void launch(const Stream& stream, const GroupedProduct& product) {
  KernelArgs args{};
  args.weight =
      matrix_map(product.weight, product.inputs, product.experts * product.outputs, kWeightRows / kCluster);
  args.input = matrix_map(product.input, product.inputs, product.pairs, kPairs);
  args.first = product.first;
  args.experts = static_cast<int>(product.experts);
  args.weight_rows = static_cast<int>(product.outputs);
  args.weight_tiles = static_cast<int>((product.outputs + kWeightRows - 1) / kWeightRows);
  args.input_tiles = static_cast<int>((product.inputs + kTileInputs - 1) / kTileInputs);
  args.columns = static_cast<int>(kSwiglu ? product.outputs / 2 : product.outputs);
  args.output = matrix_map(product.output, args.columns, product.pairs, 8);
  args.results = product.output;
  const unsigned clusters = static_cast<unsigned>(gpu().multiprocessors / kCluster);
  launch_kernel({.grid = dim3(clusters * kCluster),
                 .block = kThreads,
                 .shared_bytes = sizeof(Storage<kPairs>),
                 .cluster = kCluster,
                 .early = true},
                stream, "grouped_hopper", grouped_hopper<kPairs, kCluster, kSwiglu>, args);
}

template <int kPairs, int kCluster>
void launch(const Stream& stream, const GroupedProduct& product) {
  static_assert(sizeof(Storage<kPairs>) <= 227 * 1024);
  if (product.swiglu) {
    launch<kPairs, kCluster, true>(stream, product);
  } else {
    launch<kPairs, kCluster, false>(stream, product);
  }
}

struct Width {
  int pairs, cluster;
};
constexpr std::array<Width, 6> kWidths = {{{16, 1}, {32, 1}, {64, 1}, {96, 1}, {144, 2}, {192, 2}}};

// What an expert's tiles cost when as many rows choose each on average, and a few more than that: in pairs.
// Bringing a weight's tile costs as much as some pairs.
double cost_of(const Width& width, double pairs) {
  constexpr double kBringing = 72, kShared = 0.9;
  const double most = pairs + 2 * std::sqrt(pairs), together = width.pairs * width.cluster;
  const double tile =
      width.cluster * std::max<double>(width.pairs, kBringing) * (width.cluster > 1 ? kShared : 1);
  return std::ceil(most / together) * (tile + 0.01 * together);
}

Width width_for(const GroupedProduct& product) {
  const double pairs = static_cast<double>(product.pairs) / static_cast<double>(product.experts);
  return *std::min_element(kWidths.begin(), kWidths.end(), [&](const Width& a, const Width& b) {
    return cost_of(a, pairs) < cost_of(b, pairs);
  });
}

}  // namespace

bool hopper_can_multiply_grouped(const GroupedProduct& product) {
  return gpu().major == 9 && gpu().minor == 0 && product.inputs % 8 == 0 && product.outputs % 8 == 0 &&
         product.experts <= kMostExperts && aligned(product.input) && aligned(product.weight) &&
         aligned(product.output);
}

void multiply_grouped_hopper(const Stream& stream, const GroupedProduct& product) {
  switch (width_for(product).pairs) {
    case 16:
      return launch<16, 1>(stream, product);
    case 32:
      return launch<32, 1>(stream, product);
    case 64:
      return launch<64, 1>(stream, product);
    case 96:
      return launch<96, 1>(stream, product);
    case 144:
      return launch<144, 2>(stream, product);
    default:
      return launch<192, 2>(stream, product);
  }
}

}  // namespace buoy::ops
