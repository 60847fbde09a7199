// The end of linear_few_rows_kernel_cuda.cuh: the two blocks of a cluster have summed over different inputs.
// Each sends its sums to where they are finished, 16 rows of the weight (a strip) at a time, in the order in
// which threads hold them; who finishes a strip adds them in the order of the blocks.

#pragma once

#include "buoy/ops/device/silu_cuda.cuh"
#include "buoy/ops/linear/linear_few_rows_memory_cuda.cuh"

namespace buoy::ops {

#ifdef BUOY_HAS_WGMMA

// Turns a matrix of eight by eight 16-bit numbers about: a lane holds two neighbours of row lane / 4.
__device__ inline std::uint32_t transposed(std::uint32_t pair) {
  std::uint32_t out;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;\n" : "=r"(out) : "r"(pair));
  return out;
}

// What a warp finishes at once: a strip of the weight by eight rows of the input. Of a lane's four sums,
// number 2 h + e is that of row lane / 4 + 8 h of the strip and row 2 (lane % 4) + e of the eight.
struct FewRowsPiece {
  int weight_row, row;  // the first of each

  // Of the output in floats: eight lanes have neighbours.
  template <typename Use>
  __device__ void for_each(const FewRowsArgs& args, int end, const Use& use) const {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int r = row + lane % 4 * 2 + i % 2, column = weight_row + lane / 4 + i / 2 * 8;
      if (r < args.rows && column < end)
        use(i, static_cast<float*>(args.output) + static_cast<std::int64_t>(r) * args.outputs + column);
    }
  }

  // In bf16, four lanes have neighbours once they are turned about.
  __device__ void store_narrow(const FewRowsArgs& args, int end, const float (&sums)[4]) const {
    const int lane = threadIdx.x % 32, r = row + lane / 4;
    const auto store = [&](std::uint32_t pair, int column, int columns, bool inside) {
      if (inside && r < args.rows)
        *reinterpret_cast<std::uint32_t*>(static_cast<std::uint16_t*>(args.output) +
                                          static_cast<std::int64_t>(r) * columns + column + lane % 4 * 2) =
            pair;
    };
    if (args.kind == LinearOutput::kSwiglu) {  // eight rows of a gate, then the eight of up
      const std::uint32_t pair =
          transposed(pack_bf16(silu_times(sums[0], sums[2]), silu_times(sums[1], sums[3])));
      store(pair, weight_row / 2, args.outputs / 2, weight_row < end);
    } else {
      const std::uint32_t low = transposed(pack_bf16(sums[0], sums[1])),
                          high = transposed(pack_bf16(sums[2], sums[3]));
      store(low, weight_row, args.outputs, weight_row < end);
      store(high, weight_row + 8, args.outputs, weight_row + 8 < end);
    }
  }
};

// Where the sums of a block's strip lie at who finishes it, of a lane: eight rows of the input after eight.
template <int kRows>
__device__ int place_of_sums(const FewRowsArgs& args, int block, int own_strip) {
  return (block * args.own_strips + own_strip) * (kRows / 8) * 32 + static_cast<int>(threadIdx.x) % 32;
}

// What comes to this block of a tile, in strips and in eights of rows.
struct FewRowsShare {
  __device__ FewRowsShare(const FewRowsArgs& args, int rank)
      : first(rank * args.own_strips),
        strips(max(0, min(args.own_strips, args.strips - first))),
        eights((args.rows + 7) / 8) {}
  __device__ int pieces() const { return strips * eights; }
  __device__ std::uint32_t bytes() const {
    return static_cast<std::uint32_t>(kFewParts * pieces()) * 32 * sizeof(float4);
  }
  int first, strips, eights;
};

// A warpgroup's sums of every second 64 rows of a tile, to those who finish them.
template <int kRows, int kBlocks>
__device__ void send_sums(const FewRowsMemory<kRows>& memory, const FewRowsArgs& args, int rank,
                          const float (&sums)[kBlocks][kRows / 2]) {
  const int group = threadIdx.x / 128, warp = threadIdx.x / 32 % 4;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
    const int strip = (group + 2 * block) * 4 + warp;
    if (strip >= args.strips) break;
    const int to = strip / args.own_strips;
    const float4* place = memory.sums + place_of_sums<kRows>(args, rank, strip % args.own_strips);
    const std::uint32_t address = address_in_block(place, to),
                        barrier = address_in_block(&memory.barriers.joined, to);
#pragma unroll
    for (int j = 0; j < kRows / 8; ++j) {
      if (8 * j >= args.rows) break;
      const float* s = sums[block] + 4 * j;
      store_async(address + j * 32 * sizeof(float4), barrier, s[0], s[1], s[2], s[3]);
    }
  }
}

// Adds what both blocks sent of this block's strips of a tile, and stores what becomes of it. For all
// consumers.
template <int kRows>
__device__ void finish_sums(const FewRowsMemory<kRows>& memory, const FewRowsArgs& args, int rank, int tile,
                            std::uint32_t phase) {
  const FewRowsShare share(args, rank);
  const int warp = threadIdx.x / 32, first_row = tile * args.tile_weights,
            end = min(args.outputs, first_row + args.tile_weights);
  for (int index = warp;; index += kFewConsumers / 32) {
    const bool inside = index < share.pieces();
    const int strip = index / share.eights, eight = index % share.eights;
    const FewRowsPiece piece{first_row + (share.first + strip) * 16, eight * 8};
    float before[4] = {};  // what the product is added to comes while the other block still multiplies
    if (inside && args.kind == LinearOutput::kAddFloat)
      piece.for_each(args, end, [&](int i, const float* at) { before[i] = *at; });
    if (index == warp) mbarrier_wait_cluster(&memory.barriers.joined, phase);
    if (!inside) break;
    float sums[4] = {};
#pragma unroll
    for (int part = 0; part < kFewParts; ++part) {
      const float4 four = memory.sums[place_of_sums<kRows>(args, part, strip) + eight * 32];
      sums[0] += four.x, sums[1] += four.y, sums[2] += four.z, sums[3] += four.w;
    }
    if (args.kind == LinearOutput::kFloat || args.kind == LinearOutput::kAddFloat) {
      piece.for_each(args, end, [&](int i, float* at) { *at = before[i] + sums[i]; });
    } else {
      piece.store_narrow(args, end, sums);
    }
  }
}

#endif

}  // namespace buoy::ops
