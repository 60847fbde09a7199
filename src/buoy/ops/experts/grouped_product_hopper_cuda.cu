// The products of experts on Hopper: a persistent, warp-specialised kernel as that of
// linear_hopper_kernel_cuda.cuh, with the factors changed about. An expert's pairs are shared evenly among as
// few blocks as can be, and a block multiplies as many columns as it has pairs, rounded up to a multiple of
// eight (sixteen where they are few). Where an expert has many, two blocks of a cluster share its weights
// (TMA multicast).
//
// A result's sums are formed in the same order whatever the tile.

#include <array>
#include <cmath>

#include "buoy/base/error.h"
#include "buoy/ops/device/block_cuda.cuh"
#include "buoy/ops/device/launch_cuda.cuh"
#include "buoy/ops/device/tensor_map_cuda.cuh"
#include "buoy/ops/experts/grouped_load_hopper_cuda.cuh"
#include "buoy/ops/experts/grouped_results_hopper_cuda.cuh"

namespace buoy::ops {
namespace {

#ifdef BUOY_HAS_WGMMA

// Numbers of columns that a tile may have.
constexpr int kColumns[] = {16, 32, 48, 64, 80, 96, 104, 112, 120, 128, 136, 144, 152};

template <int kMost>
constexpr int kKinds = std::count_if(std::begin(kColumns), std::end(kColumns),
                                     [](int columns) { return columns <= kMost; });

// Runs what is written for the least of the kinds [kFirst, kEnd) that holds so many pairs.
template <int kFirst, int kEnd, typename Run>
__device__ void run_for(int pairs, const Run& run) {
  if constexpr (kEnd - kFirst == 1) {
    run.template operator()<kColumns[kFirst]>();
  } else {
    constexpr int kMiddle = (kFirst + kEnd) / 2, kLower = kColumns[kMiddle - 1];
    if (pairs <= kLower) {
      run_for<kFirst, kMiddle>(pairs, run);
    } else {
      run_for<kMiddle, kEnd>(pairs, run);
    }
  }
}

// All warps have read a stage; the other block of the cluster loads half of its weights.
template <int kCluster>
__device__ void release(std::uint64_t* empty) {
  __syncwarp();
  if (threadIdx.x % 32 < kCluster) mbarrier_arrive_remote(empty, threadIdx.x % 32);
}

// kTileInputs inputs of a warpgroup's rows, groups of eight of them in turn.
template <bool kAnew, int kNumbers>
__device__ void multiply_step(float (&sums)[2][kNumbers], std::uint64_t weights, std::uint64_t inputs) {
  wgmma_fence();
#pragma unroll
  for (int i = 0; i < kTileInputs / 16; ++i) {
#pragma unroll
    for (int block = 0; block < 2; ++block) {
      const std::uint64_t a = moved_by(weights, 1024 * block + 32 * i), b = moved_by(inputs, 32 * i);
      if (kAnew && i == 0) {
        multiply_tile_anew(sums[block], a, b);
      } else {
        multiply_tile(sums[block], a, b, 1);
      }
    }
  }
  wgmma_commit();
}

// A warpgroup's 128 rows of a tile. The first stage is there.
template <int kWidth, int kCluster, bool kSwiglu, bool kGathers, int kMost, typename Place>
__device__ void multiply_pairs(GroupedStorage<kMost>& smem, const GroupedHopperArgs& args,
                               const GroupedWork& work, Place& at) {
  const int group = same_in_warp(threadIdx.x / 128) - 1, warp = threadIdx.x / 32 - 4;
  at.stage = same_in_warp(at.stage);
  const std::uint64_t weights = operand(smem.weight[0] + group * 128 * kTileInputs, 0, 2 * 1024),
                      inputs = operand(smem.input[0]);
  float sums[2][kWidth / 2];
  const auto multiply = [&]<bool kAnew>() {
    // Gathered rows are written through another proxy than the tensor cores read through.
    if (kGathers) fence_async_proxy();
    multiply_step<kAnew>(sums, moved_by(weights, at.stage * sizeof(smem.weight[0])),
                         moved_by(inputs, at.stage * sizeof(smem.input[0])));
  };
  multiply.template operator()<true>();
  int last = at.stage;
  at.advance();
  for (int k = 1; k < args.input_tiles; ++k, at.advance()) {
    mbarrier_wait(&smem.full[at.stage], at.phase);
    multiply.template operator()<false>();
    wgmma_wait<1>();
    release<kCluster>(&smem.empty[last]);
    last = at.stage;
  }
  wgmma_wait<0>();
  wgmma_fence_results(sums[0]);
  wgmma_fence_results(sums[1]);
  release<kCluster>(&smem.empty[last]);
  const int row = work.weight_tile * kWeightRows + warp * 32;
  send_results<kSwiglu>(smem.results[warp], sums, args, work, kSwiglu ? row / 2 : row);
}

template <int kMost, int kCluster, bool kSwiglu, bool kGathers>
__device__ void consume(GroupedStorage<kMost>& smem, const GroupedHopperArgs& args) {
  GroupedPlace<GroupedStorage<kMost>::kStages> at;
  const int turns = GroupedTiles<kMost, kCluster>(smem, args).turns();
  for (int turn = 0; turn < turns; ++turn) {
    mbarrier_wait(&smem.full[at.stage], at.phase);
    const GroupedWork work = smem.work[at.stage];
    if (work.pairs == 0) {  // the other block's half of the weights comes here all the same
      for (int k = 0; k < args.input_tiles; ++k, at.advance()) {
        mbarrier_wait(&smem.full[at.stage], at.phase);
        release<kCluster>(&smem.empty[at.stage]);
      }
      continue;
    }
    run_for<0, kKinds<kMost>>(work.pairs, [&]<int kWidth>() {
      multiply_pairs<kWidth, kCluster, kSwiglu, kGathers>(smem, args, work, at);
    });
  }
}

#endif

template <int kMost, int kCluster, bool kSwiglu, bool kGathers>
__global__ void __launch_bounds__(kGroupedThreads, 1)
    grouped_hopper(const __grid_constant__ GroupedHopperArgs args) {
#ifdef BUOY_HAS_WGMMA
  extern __shared__ __align__(1024) unsigned char shared[];
  auto& smem = *reinterpret_cast<GroupedStorage<kMost>*>(shared);
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < GroupedStorage<kMost>::kStages; ++stage) {
      mbarrier_init(&smem.full[stage], kGathers ? 1 + 32 * kGatherWarps : 1);
      mbarrier_init(&smem.empty[stage], GroupedStorage<kMost>::kWarps * kCluster);
    }
    mbarrier_init_fence();
  }
  // Who chose which expert, and the weights, are known before the first product ends: its blocks set the
  // second one going only when all before them is finished.
  constexpr bool kEarly = !kSwiglu;
  if (!kEarly) wait_for_prior_grid();
  launch_dependents();
  plan_tiles<kMost, kCluster>(smem, args);
  cluster_sync();
  if (threadIdx.x < 128) {
    setmaxnreg_dec<72>();
    const int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) load_tiles<kMost, kCluster, kGathers, kEarly>(smem, args);
    if (kGathers && warp > 0) gather_tiles<kMost, kCluster>(smem, args, warp - 1);
  } else {
    setmaxnreg_inc<216>();
    consume<kMost, kCluster, kSwiglu, kGathers>(smem, args);
  }
  // Nobody leaves while the other block may still reach into its shared memory.
  cluster_sync();
#endif
}

bool aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
}

template <int kMost, int kCluster, bool kSwiglu, bool kGathers>
void launch(const Stream& stream, const GroupedProduct& product) {
  using Storage = GroupedStorage<kMost>;
  static_assert(Storage::kStages >= 4 && sizeof(Storage) <= 227 * 1024);
  GroupedHopperArgs args{};
  args.weight =
      matrix_map(product.weight, product.inputs, product.experts * product.outputs, kWeightRows / kCluster);
  if (kGathers) {
    args.rows = product.input;
    args.source = product.source;
    args.chosen = static_cast<int>(product.chosen);
  } else {
    args.input = matrix_map(product.input, product.inputs, product.pairs, Storage::kInputBox);
    args.eight_inputs = matrix_map(product.input, product.inputs, product.pairs, 8);
  }
  args.first = product.first;
  args.experts = static_cast<int>(product.experts);
  args.inputs = static_cast<int>(product.inputs);
  args.weight_rows = static_cast<int>(product.outputs);
  args.weight_tiles = static_cast<int>((product.outputs + kWeightRows - 1) / kWeightRows);
  args.input_tiles = static_cast<int>((product.inputs + kTileInputs - 1) / kTileInputs);
  args.columns = static_cast<int>(kSwiglu ? product.outputs / 2 : product.outputs);
  args.results = product.output;
  const unsigned clusters = static_cast<unsigned>(gpu().multiprocessors / kCluster);
  launch_kernel({.grid = dim3(clusters * kCluster),
                 .block = kGroupedThreads,
                 .shared_bytes = sizeof(Storage),
                 .cluster = kCluster,
                 .early = true},
                stream, "grouped_hopper", grouped_hopper<kMost, kCluster, kSwiglu, kGathers>, args);
}

template <int kMost, int kCluster>
void launch(const Stream& stream, const GroupedProduct& product) {
  if (product.swiglu) {
    launch<kMost, kCluster, true, kGathersInside>(stream, product);
  } else {
    launch<kMost, kCluster, false, false>(stream, product);
  }
}

struct Width {
  int pairs, cluster;
};
constexpr std::array<Width, 4> kWidths = {{{16, 1}, {64, 1}, {152, 1}, {152, 2}}};

// The least that holds the pairs of nearly every expert, when they choose evenly.
Width width_for(const GroupedProduct& product) {
  const double pairs = static_cast<double>(product.pairs) / static_cast<double>(product.experts);
  const double most = pairs + 2 * std::sqrt(pairs);
  for (const Width& width : kWidths) {
    if (most <= width.pairs * width.cluster) return width;
  }
  return kWidths.back();
}

}  // namespace

bool hopper_can_multiply_grouped(const GroupedProduct& product) {
  constexpr std::int64_t kMostPairs = 1 << 24;  // 16 bits count tiles
  return gpu().major == 9 && gpu().minor == 0 && product.inputs % 8 == 0 && product.outputs % 8 == 0 &&
         product.experts <= kMostExperts && product.pairs < kMostPairs && aligned(product.input) &&
         aligned(product.weight) && aligned(product.output);
}

void multiply_grouped_hopper(const Stream& stream, const GroupedProduct& product) {
  const Width width = width_for(product);
  switch (width.pairs) {
    case 16:
      return launch<16, 1>(stream, product);
    case 64:
      return launch<64, 1>(stream, product);
    default:
      return width.cluster == 1 ? launch<152, 1>(stream, product) : launch<152, 2>(stream, product);
  }
}

}  // namespace buoy::ops
