// Sums over what experts return, while the product that returns it is still under way. Its results come in
// parts, columns side by side: all experts' first columns before the next ones. Warps that have nothing else
// to do add up the rows of a part that every block has finished, as many as they can while their own block
// multiplies; nobody waits for them. A kernel behind this one does the rest: rows are claimed in their order.

#pragma once

#include "buoy/ops/experts/grouped_progress_hopper_cuda.cuh"
#include "buoy/ops/experts/grouped_tiles_hopper_cuda.cuh"

namespace buoy::ops {

#ifdef BUOY_HAS_WGMMA

// For whole warps that do not multiply; the first of them tells the others of the GPU how far its block is.
template <int kMost, int kCluster>
class EarlySums {
 public:
  __device__ EarlySums(const GroupedStorage<kMost>& smem, const GroupedHopperArgs& args, bool tells)
      : smem_(smem), args_(args), tiles_(smem, args), turns_(tiles_.turns()), tells_(tells) {}

  __device__ void run() {
    wait_for_prior_grid();
    for (int part = 0; part + 1 < args_.column_parts; ++part) {
      while (!finished_everywhere(part)) {
        if (over()) break;
        __nanosleep(1000);
      }
      if (over()) break;
      add(part);
    }
    // Whoever comes here has told everything: a part is finished everywhere only when this block has said so,
    // and who is over says all that is left.
  }

 private:
  __device__ int done() const { return least_turns_done<GroupedStorage<kMost>::kWarps>(smem_.turns_done); }
  __device__ bool over() {
    const int turns = done();
    tell(turns);
    return turns >= turns_;
  }
  // One arrival of each block for each part.
  __device__ void tell(int turns) {
    if (!tells_) return;
    while (told_ + 1 < args_.column_parts && turns >= tiles_.turns_before_part(told_ + 1)) {
      __syncwarp();
      if (threadIdx.x % 32 == 0) {
        __threadfence();
        add_released(args_.progress + told_, 1);
      }
      ++told_;
    }
  }
  __device__ bool finished_everywhere(int part) {
    const int blocks = threadIdx.x % 32 == 0 ? read_acquired(args_.progress + part) : 0;
    const bool finished = __shfl_sync(0xffffffffu, blocks, 0) == static_cast<int>(gridDim.x);
    __syncwarp();
    return finished;
  }
  // The next row, known to the first lane.
  __device__ int claim(int part) const {
    return threadIdx.x % 32 == 0 ? atomicAdd(args_.progress + kMostColumnParts + part, 1) : 0;
  }
  // What is claimed is added up, come what may. A row is claimed while the one before it is added up.
  __device__ void add(int part) {
    const int pieces = args_.sums.pieces / args_.column_parts, first = part * pieces;
    int row = __shfl_sync(0xffffffffu, claim(part), 0);
    while (row < args_.sums.rows) {
      const bool last = over();
      const int next = last ? 0 : claim(part);
      for (int i = threadIdx.x % 32; i < pieces; i += 32) add_returned_piece<8>(args_.sums, row, first + i);
      if (last) return;
      row = __shfl_sync(0xffffffffu, next, 0);
    }
  }

  const GroupedStorage<kMost>& smem_;
  const GroupedHopperArgs& args_;
  GroupedTiles<kMost, kCluster> tiles_;
  const int turns_;
  const bool tells_;
  int told_ = 0;
};

#endif

}  // namespace buoy::ops
