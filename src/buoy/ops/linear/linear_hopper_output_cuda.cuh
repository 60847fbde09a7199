// The epilogue of linear_hopper_kernel_cuda.cuh: sums leave a thread block through panels in shared memory by
// TMA stores, which leave out what lies outside of the output.

#pragma once

#include "buoy/ops/device/bulk_copy_cuda.cuh"
#include "buoy/ops/device/silu_cuda.cuh"
#include "buoy/ops/linear/linear_cuda.h"
#include "buoy/ops/linear/linear_hopper_best_cuda.cuh"
#include "buoy/ops/linear/linear_hopper_heads_cuda.cuh"

namespace buoy::ops {

inline constexpr int kLinearTileInputs = 64, kLinearThreads = 384, kLinearCluster = 2, kMostLinearParts = 3;

// What a thread block multiplies at a time: each of two warpgroups kRowBlocks times 64 rows. The two blocks
// of a cluster both need one of the factors; each loads half of it for both.
struct WideTile {  // blocks above each other share weights
  static constexpr int kRowBlocks = 1, kRows = 128, kColumns = 256, kStages = 4;
  static constexpr bool kSharesInput = false;
  static constexpr int kPanelBytes = 128, kBuffers = 2;
};
// A fifth less arrives in shared memory for the same work. For outputs where its greater size costs no wave.
struct TallTile {  // blocks side by side share inputs
  static constexpr int kRowBlocks = 2, kRows = 256, kColumns = 192, kStages = 3;
  static constexpr bool kSharesInput = true;
  static constexpr int kPanelBytes = 64, kBuffers = 3;
};
struct TallFloatTile : TallTile {  // for sums that leave as floats
  static constexpr int kPanelBytes = 128;
};

struct HopperLinearArgs {
  CUtensorMap input, weight;
  CUtensorMap outputs[kMostLinearParts];  // of columns from first_column on
  int first_column[kMostLinearParts];
  int row_tiles, column_tiles, input_tiles;  // of a cluster
  int first_tile_column;                     // of a block: columns before it go another way
  HeadsToFinish heads;                       // kQkv
  BestToFind best;                           // kBest
  int rows_together;  // so many row tiles share a column's weights before the next column comes
};

template <typename Tile>
struct LinearSharedStorage {
  static constexpr int kInput = Tile::kRows * kLinearTileInputs, kWeight = Tile::kColumns * kLinearTileInputs;
  static constexpr std::uint32_t kStageBytes = 2 * (kInput + kWeight);
  using Panel = unsigned char[64 * Tile::kPanelBytes];
  std::uint16_t input[Tile::kStages][kInput];
  std::uint16_t weight[Tile::kStages][kWeight];
  Panel sums[2][Tile::kBuffers];  // of each warpgroup, on their way out
  std::uint64_t full[Tile::kStages], empty[Tile::kStages];
};

#ifdef BUOY_HAS_WGMMA

__device__ inline void store_matrices(void* row, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                      std::uint32_t d) {
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};\n" ::"r"(shared_address(row)), "r"(a),
      "r"(b), "r"(c), "r"(d)
      : "memory");
}

// What a warpgroup's sums of 64 rows become. `word`: two neighbours of a lane in row half `h` of the eight
// columns `block` of the output.
template <LinearOutput kKind>
struct Outcome {
  static constexpr bool kFloats = false;
  static constexpr int kShare = 1;  // columns of the product for one of the output
  template <int kSize>
  __device__ static std::uint32_t word(const float (&sums)[kSize], int block, int h) {
    return pack_bf16(sums[4 * block + 2 * h], sums[4 * block + 2 * h + 1]);
  }
};
// Eight columns of the gate lie beside the eight of up that they belong to.
template <>
struct Outcome<LinearOutput::kSwiglu> {
  static constexpr bool kFloats = false;
  static constexpr int kShare = 2;
  template <int kSize>
  __device__ static std::uint32_t word(const float (&sums)[kSize], int block, int h) {
    const float *gate = sums + 8 * block + 2 * h, *up = gate + 4;
    return pack_bf16(silu_times(gate[0], up[0]), silu_times(gate[1], up[1]));
  }
};
template <>
struct Outcome<LinearOutput::kFloat> {
  static constexpr bool kFloats = true;
  static constexpr int kShare = 1;
};
template <>
struct Outcome<LinearOutput::kAddFloat> : Outcome<LinearOutput::kFloat> {};

// 64 rows by kBytes of bf16 numbers.
template <LinearOutput kKind, int kBytes, int kSize>
__device__ void fill_narrow_panel(unsigned char* panel, const float (&sums)[kSize], int number) {
  constexpr int kPieces = kBytes / 16;
  const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32, row = lane % 16;
  const int turn = kBytes == 128 ? row & 7 : row >> 1 & 3;
  unsigned char* to = panel + (warp * 16 + row) * kBytes;
#pragma unroll
  for (int i = 0; i < kPieces; i += 2) {
    const int block = number * kPieces + i;
    store_matrices(to + ((i + lane / 16) ^ turn) * 16, Outcome<kKind>::word(sums, block, 0),
                   Outcome<kKind>::word(sums, block, 1), Outcome<kKind>::word(sums, block + 1, 0),
                   Outcome<kKind>::word(sums, block + 1, 1));
  }
}

// 64 rows by 32 floats.
template <int kSize>
__device__ void fill_float_panel(unsigned char* panel, const float (&sums)[kSize], int number) {
  const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
  unsigned char* rows = panel + warp * 16 * 128;
  // Odd rows write their blocks of eight columns in another order: so no two lanes meet in a bank.
  const int r = lane / 4, q = lane % 4;
  const bool odd = r & 1;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int here = number * 4 + i, there = number * 4 + (i ^ 2);
    const int piece = (2 * (odd ? i ^ 2 : i) + q / 2) ^ r;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float2 pair = {odd ? sums[4 * there + 2 * h] : sums[4 * here + 2 * h],
                           odd ? sums[4 * there + 2 * h + 1] : sums[4 * here + 2 * h + 1]};
      *reinterpret_cast<float2*>(rows + (r + 8 * h) * 128 + piece * 16 + q % 2 * 8) = pair;
    }
  }
}

// A warpgroup's sums of 64 rows on their way to the output; returns before they are there.
template <LinearOutput kKind, typename Tile>
__device__ void send_sums(typename LinearSharedStorage<Tile>::Panel (&buffers)[Tile::kBuffers],
                          const float (&sums)[Tile::kColumns / 2], const HopperLinearArgs& args, int row,
                          int tile_column) {
  constexpr bool kFloats = Outcome<kKind>::kFloats;
  constexpr int kColumns = Tile::kPanelBytes / (kFloats ? 4 : 2),
                kPanels = Tile::kColumns / Outcome<kKind>::kShare / kColumns;
  static_assert(kPanels % Tile::kBuffers == 0);  // each 64 rows start with the first one
  static_assert(!kFloats || Tile::kPanelBytes == 128);
  const int group = threadIdx.x / 128;
  const bool sends = threadIdx.x % 128 == 0;
#pragma unroll
  for (int p = 0; p < kPanels; ++p) {
    unsigned char* panel = buffers[p % Tile::kBuffers];
    if (sends) tma_store_wait_read<Tile::kBuffers - 1>();
    named_barrier_sync(group, 128);
    if constexpr (kFloats) {
      fill_float_panel(panel, sums, p);
    } else {
      fill_narrow_panel<kKind, Tile::kPanelBytes>(panel, sums, p);
    }
    fence_async_proxy();
    named_barrier_sync(group, 128);
    if (sends) {
      const int column = (tile_column * kPanels + p) * kColumns;
      const int part = (column >= args.first_column[1]) + (column >= args.first_column[2]);
      const CUtensorMap* output = &args.outputs[part];
      const int x = column - args.first_column[part];
      if constexpr (kKind == LinearOutput::kAddFloat) {
        tma_reduce_add(output, panel, x, row);
      } else {
        tma_store(output, panel, x, row);
      }
      tma_store_commit();
    }
  }
}

#endif

}  // namespace buoy::ops
