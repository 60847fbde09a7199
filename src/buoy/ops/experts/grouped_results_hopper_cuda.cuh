// What becomes of a warp's sums in the products of experts on Hopper. A warpgroup has 128 rows of the weight
// in two products of 64, groups of eight rows in turn: so warp w has rows 32 w to 32 w + 31 of them, and
// where gate and up take turns (kSwigluTurn), the first product is that of gates and the second that of ups.

#pragma once

#include "buoy/ops/device/silu_cuda.cuh"
#include "buoy/ops/experts/grouped_tiles_hopper_cuda.cuh"

namespace buoy::ops {

#ifdef BUOY_HAS_WGMMA

__device__ inline void store_transposed(void* row, const std::uint32_t (&words)[4]) {
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};\n" ::"r"(shared_address(row)),
      "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
      : "memory");
}

// Four matrices of eight pairs by eight results: of one pair after the other, kPieces side by side.
template <bool kSwiglu, int kNumbers>
__device__ void pack_results(std::uint32_t (&words)[4], const float (&sums)[2][kNumbers], int unit) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if constexpr (kSwiglu) {  // matrices: two pieces of eight pairs, then those of the next eight
      const int at = 8 * unit + 2 * i;
      words[i] = at < kNumbers ? pack_bf16(silu_times(sums[0][at], sums[1][at]),
                                           silu_times(sums[0][at + 1], sums[1][at + 1]))
                               : 0;
    } else {
      const int at = 4 * unit + i / 2 * 2;
      words[i] = pack_bf16(sums[i % 2][at], sums[i % 2][at + 1]);
    }
  }
}

// Through the warp's own part of shared memory, so that no warp waits for another. `column`: the warp's
// first.
template <bool kSwiglu, int kNumbers>
__device__ void send_results(std::uint16_t* shared, const float (&sums)[2][kNumbers],
                             const GroupedHopperArgs& args, const GroupedWork& work, int column) {
  constexpr int kPieces = kSwiglu ? 2 : 4;  // of a pair, each of eight results
  constexpr int kPairs = 32 / kPieces;      // in a unit of four matrices
  constexpr int kUnits = (2 * kNumbers + kPairs - 1) / kPairs, kTogether = 4, kUnit = 256;
  const auto place = [](int pair, int piece) {  // keeps banks apart
    return (pair * kPieces + (piece ^ (pair / (8 / kPieces) & (kPieces - 1)))) * 8;
  };
  const int lane = threadIdx.x % 32, matrix = lane / 8;
  std::uint16_t* const in = shared + place(matrix / kPieces * 8 + lane % 8, matrix % kPieces);
  const int pair = lane / kPieces, piece = lane % kPieces;
  const std::uint16_t* const out = shared + place(pair, piece);
  const bool inside = column + piece * 8 < args.columns;
  std::uint16_t* to =
      args.results + static_cast<std::int64_t>(work.row + pair) * args.columns + column + piece * 8;
  const std::int64_t stride = static_cast<std::int64_t>(kPairs) * args.columns;
#pragma unroll
  for (int first = 0; first < kUnits; first += kTogether) {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      if (first + i >= kUnits) break;
      std::uint32_t words[4];
      pack_results<kSwiglu>(words, sums, first + i);
      store_transposed(in + i * kUnit, words);
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      if (first + i >= kUnits) break;
      const uint4 eight = *reinterpret_cast<const uint4*>(out + i * kUnit);
      if (inside && (first + i) * kPairs + pair < work.pairs) *reinterpret_cast<uint4*>(to) = eight;
      to += stride;
    }
  }
}

#endif

}  // namespace buoy::ops
