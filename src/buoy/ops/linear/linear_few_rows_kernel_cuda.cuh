// output = input weight^T of few rows on Hopper: a persistent, warp-specialised kernel that reads weights as
// fast as they come. The factors are changed about: rows of the weight are the rows of a tile, the few rows
// of the input its columns. A cluster takes one tile after the other, and its two blocks divide the inputs:
// so a row of the input is read but once by each cluster. Their sums are joined in shared memory
// (linear_few_rows_join_cuda.cuh). Neither time nor the number of rows changes the order of any sum.
//
// Nothing on the GPU writes weights: a block fills all its stages with them before it waits for the kernel in
// front (programmatic dependent launch). So the memory bus is busy while small kernels run between two
// products. Every kernel of such a chain waits for the one before it, itself, before it ends: whoever waits
// for one kernel has then waited for all.

#pragma once

#include "buoy/ops/device/launch_cuda.cuh"
#include "buoy/ops/linear/linear_few_rows_join_cuda.cuh"

namespace buoy::ops {

#ifdef BUOY_HAS_WGMMA

// The steps of a block, tile after tile.
struct FewRowsSteps {
  __device__ FewRowsSteps(const FewRowsArgs& args, int rank)
      : tiles(args.tiles),
        clusters(static_cast<int>(gridDim.x) / kFewParts),
        first(rank * args.steps / kFewParts),
        end((rank + 1) * args.steps / kFewParts),
        tile(static_cast<int>(blockIdx.x) / kFewParts),
        step(first) {}
  __device__ bool more() const { return tile < tiles && first < end; }
  __device__ void advance() {
    if (++step == end) step = first, tile += clusters;
  }

  int tiles, clusters, first, end;
  int tile, step;  // now
};

// Stages come round again, and each round flips the barriers' phase.
struct FewRowsPlace {
  int stage = 0;
  std::uint32_t phase = 0;
  __device__ void advance(int stages) {
    if (++stage == stages) stage = 0, phase ^= 1;
  }
};

// The producer: one thread.
template <int kRows>
class FewRowsLoads {
 public:
  __device__ FewRowsLoads(const FewRowsMemory<kRows>& memory, const FewRowsArgs& args, int rank)
      : memory_(memory), args_(args), next_(args, rank), first_(next_) {}

  __device__ void first_weights() {
    for (; first_count_ < args_.stages && next_.more(); ++first_count_, next_.advance())
      load_weight(first_count_, next_);
  }
  // Behind the kernel in front.
  __device__ void all_else() {
    for (int stage = 0; stage < first_count_; ++stage, first_.advance(), at_.advance(args_.stages))
      load_input(stage, first_);
    for (; next_.more(); next_.advance(), at_.advance(args_.stages)) {
      mbarrier_wait(&memory_.barriers.empty[at_.stage], at_.phase ^ 1);
      load_weight(at_.stage, next_);
      load_input(at_.stage, next_);
    }
  }

 private:
  __device__ void load_weight(int stage, const FewRowsSteps& steps) const {
    mbarrier_arrive_expect_tx(&memory_.barriers.full[stage], static_cast<std::uint32_t>(memory_.stage_size));
    tma_load(memory_.stages + stage * memory_.stage_size, &args_.weight, &memory_.barriers.full[stage],
             steps.step * kFewStep, steps.tile * args_.tile_weights);
  }
  __device__ void load_input(int stage, const FewRowsSteps& steps) const {
    constexpr int kInput = FewRowsMemory<kRows>::kInputBytes;
    tma_load(memory_.stages + (stage + 1) * memory_.stage_size - kInput, &args_.input,
             &memory_.barriers.full[stage], steps.step * kFewStep, 0);
  }

  const FewRowsMemory<kRows>& memory_;
  const FewRowsArgs& args_;
  FewRowsSteps next_, first_;
  int first_count_ = 0;
  FewRowsPlace at_;
};

// A warpgroup's rows of a tile over the block's inputs: every second 64 of the tile. Where a tile ends
// between, what is multiplied beyond its end is nobody's, whatever lies there.
template <int kRows, int kBlocks>
__device__ void multiply_steps(const FewRowsMemory<kRows>& memory, const FewRowsArgs& args, int steps,
                               FewRowsPlace& at, float (&sums)[kBlocks][kRows / 2]) {
  constexpr int kPanelRow = FewRowsMemory<kRows>::kPanelRow;
  const std::uint64_t first = operand(memory.stages),
                      weights = moved_by(first, threadIdx.x / 128 * 64 * kPanelRow),
                      inputs = moved_by(first, args.tile_weights * kPanelRow);
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
#pragma unroll
    for (int i = 0; i < kRows / 2; ++i) sums[block][i] = 0;
  }
  int last = -1;
  for (int step = 0; step < steps; ++step, at.advance(args.stages)) {
    mbarrier_wait(&memory.barriers.full[at.stage], at.phase);
    const std::uint32_t stage = at.stage * memory.stage_size;
    const std::uint64_t a = moved_by(weights, stage), b = moved_by(inputs, stage);
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < kFewStep / 16; ++i) {
#pragma unroll
      for (int block = 0; block < kBlocks; ++block)
        multiply_tile(sums[block], moved_by(a, block * 128 * kPanelRow + 32 * i), moved_by(b, 32 * i), 1);
    }
    wgmma_commit();
    wgmma_wait<1>();
    if (last >= 0) mbarrier_arrive_per_warp(&memory.barriers.empty[last]);
    last = at.stage;
  }
  wgmma_wait<0>();
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) wgmma_fence_results(sums[block]);
  if (last >= 0) mbarrier_arrive_per_warp(&memory.barriers.empty[last]);
}

template <int kRows>
__device__ void consume_few(const FewRowsMemory<kRows>& memory, const FewRowsArgs& args, int rank) {
  const FewRowsSteps all(args, rank);
  const int lane = threadIdx.x % 32;
  const int blocks = ((args.strips + 3) / 4 + 1 - static_cast<int>(threadIdx.x) / 128) / 2;  // of 64 rows
  const std::uint32_t bytes = FewRowsShare(args, rank).bytes();
  FewRowsPlace at;
  std::uint32_t phase = 0;
  for (int tile = all.tile; tile < args.tiles; tile += all.clusters, phase ^= 1) {
    if (threadIdx.x == 0) mbarrier_arrive_expect_tx(&memory.barriers.joined, bytes);
    const auto multiply = [&]<int kBlocks>() {
      float sums[kBlocks][kRows / 2];
      multiply_steps<kRows, kBlocks>(memory, args, all.end - all.first, at, sums);
      if (tile != all.tile) mbarrier_wait_cluster(&memory.barriers.finished, phase ^ 1);
      send_sums<kRows, kBlocks>(memory, args, rank, sums);
    };
    if (blocks == 2) {
      multiply.template operator()<2>();
    } else if (blocks == 1) {
      multiply.template operator()<1>();
    }
    finish_sums(memory, args, rank, tile, phase);
    // Not behind the last tile: the other block may have left.
    if (tile + all.clusters < args.tiles) {
      __syncwarp();
      if (lane < kFewParts) mbarrier_release_remote(&memory.barriers.finished, lane);
    }
  }
}

#endif

template <int kRows>
__global__ void __launch_bounds__(kFewThreads, 1) linear_few_rows(const __grid_constant__ FewRowsArgs args) {
#ifdef BUOY_HAS_WGMMA
  extern __shared__ __align__(1024) unsigned char shared[];
  launch_dependents();
  const FewRowsMemory<kRows> memory(shared, args);
  const int rank = static_cast<int>(cluster_rank());
  FewRowsLoads<kRows> loads(memory, args, rank);
  if (threadIdx.x == kFewConsumers) {
    const int warps = min(2, (args.strips + 3) / 4) * 4;  // that multiply
    for (int stage = 0; stage < args.stages; ++stage) {
      mbarrier_init(&memory.barriers.full[stage], 1);
      mbarrier_init(&memory.barriers.empty[stage], warps);
    }
    mbarrier_init(&memory.barriers.joined, 1);
    mbarrier_init(&memory.barriers.finished, kFewParts * kFewConsumers / 32);
    mbarrier_init_fence();
    loads.first_weights();
  }
  __syncthreads();
  cluster_arrive();
  if (threadIdx.x >= kFewConsumers) {
    if (threadIdx.x == kFewConsumers) {
      wait_for_prior_grid();
      loads.all_else();
    }
    __syncwarp();
    cluster_wait();
  } else {
    wait_for_prior_grid();
    cluster_wait();  // the other block's barriers are there
    consume_few(memory, args, rank);
  }
  // What the other sends to this block has come when its last tile is finished: it may leave.
#endif
}

}  // namespace buoy::ops
