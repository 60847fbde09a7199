// How the sums of linear_hopper_kernel_cuda.cuh leave a thread block: through panels in shared memory, by the
// copy engine, which leaves out what lies outside of the output.

#pragma once

#include "ops/bulk_copy_cuda.cuh"
#include "ops/linear_cuda.h"
#include "ops/linear_hopper_best_cuda.cuh"
#include "ops/linear_hopper_heads_cuda.cuh"

namespace buoy::ops {

inline constexpr int kLinearTileRows = 128, kLinearTileColumns = 256, kLinearTileInputs = 64;
inline constexpr int kLinearThreads = 384, kLinearCluster = 2, kMostLinearParts = 3;

struct HopperLinearArgs {
  CUtensorMap input, weight;
  CUtensorMap outputs[kMostLinearParts];  // of columns from first_column on
  int first_column[kMostLinearParts];
  int row_tiles, column_tiles, input_tiles;  // row tiles: of a cluster
  HeadsToFinish heads;                       // kQkv
  BestToFind best;                           // kBest
  int rows_together;  // so many row tiles share a column's weights before the next column comes
};

struct LinearRoom {
  static constexpr int kStages = 4, kBuffers = 2;
  static constexpr int kInput = kLinearTileRows * kLinearTileInputs,
                       kWeight = kLinearTileColumns * kLinearTileInputs;
  static constexpr std::uint32_t kStageBytes = 2 * (kInput + kWeight);
  using Panel = unsigned char[64 * 128];
  std::uint16_t input[kStages][kInput];
  std::uint16_t weight[kStages][kWeight];
  Panel sums[2][kBuffers];  // of each warpgroup, on their way out
  std::uint64_t full[kStages], empty[kStages];
};

#ifdef BUOY_HAS_WGMMA

__device__ inline void store_matrices(void* row, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                      std::uint32_t d) {
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};\n" ::"r"(shared_address(row)), "r"(a),
      "r"(b), "r"(c), "r"(d)
      : "memory");
}

__device__ inline float silu_times(float gate, float up) {
  return __fdividef(gate, 1.0f + __expf(-gate)) * up;
}

// What a warpgroup's sums [64, 256] become: panels of 64 rows by 128 bytes.
template <LinearOutput kKind>
struct Panels;

// The word of a lane's two neighbours in row half `h` of the eight columns `block`.
template <>
struct Panels<LinearOutput::kBf16> {
  static constexpr int kCount = 4, kColumns = 64;
  __device__ static std::uint32_t word(const float (&sums)[128], int block, int h) {
    return pack_bf16(sums[4 * block + 2 * h], sums[4 * block + 2 * h + 1]);
  }
};
// Eight columns of the gate lie beside the eight of up that they belong to.
template <>
struct Panels<LinearOutput::kSwiglu> {
  static constexpr int kCount = 2, kColumns = 64;
  __device__ static std::uint32_t word(const float (&sums)[128], int block, int h) {
    const float *gate = sums + 8 * block + 2 * h, *up = gate + 4;
    return pack_bf16(silu_times(gate[0], up[0]), silu_times(gate[1], up[1]));
  }
};
template <>
struct Panels<LinearOutput::kQkv> : Panels<LinearOutput::kBf16> {};
template <>
struct Panels<LinearOutput::kFloat> {
  static constexpr int kCount = 8, kColumns = 32;
};
template <>
struct Panels<LinearOutput::kAddFloat> : Panels<LinearOutput::kFloat> {};

template <LinearOutput kKind>
__device__ void fill_panel(unsigned char* panel, const float (&sums)[128], int number) {
  const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
  unsigned char* rows = panel + warp * 16 * 128;
  if constexpr (Panels<kKind>::kColumns == 64) {
    unsigned char* row = rows + lane % 16 * 128;
#pragma unroll
    for (int i = 0; i < 8; i += 2) {
      const int block = number * 8 + i;
      store_matrices(row + ((i + lane / 16) ^ (lane & 7)) * 16, Panels<kKind>::word(sums, block, 0),
                     Panels<kKind>::word(sums, block, 1), Panels<kKind>::word(sums, block + 1, 0),
                     Panels<kKind>::word(sums, block + 1, 1));
    }
  } else {
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
}

// A warpgroup's sums on their way to the output; returns before they are there.
template <LinearOutput kKind>
__device__ void send_sums(LinearRoom::Panel (&room)[LinearRoom::kBuffers], const float (&sums)[128],
                          const HopperLinearArgs& args, int row, int tile_column) {
  using Shape = Panels<kKind>;
  const int group = threadIdx.x / 128;
  const bool sends = threadIdx.x % 128 == 0;
#pragma unroll
  for (int p = 0; p < Shape::kCount; ++p) {
    unsigned char* panel = room[p % LinearRoom::kBuffers];
    if (sends) wait_until_read<LinearRoom::kBuffers - 1>();
    meet(group, 128);
    fill_panel<kKind>(panel, sums, p);
    show_to_copies();
    meet(group, 128);
    if (sends) {
      const int column = (tile_column * Shape::kCount + p) * Shape::kColumns;
      const int part = (column >= args.first_column[1]) + (column >= args.first_column[2]);
      const CUtensorMap* output = &args.outputs[part];
      const int x = column - args.first_column[part];
      if constexpr (kKind == LinearOutput::kAddFloat) {
        add_tile(output, panel, x, row);
      } else {
        store_tile(output, panel, x, row);
      }
      commit_stores();
    }
  }
}

#endif

}  // namespace buoy::ops
