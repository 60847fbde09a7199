// The products of experts on any GPU since Ampere: a block takes a tile of one expert's pairs and weight
// rows.

#include "buoy/base/error.h"
#include "buoy/ops/attention/attention_mma_cuda.cuh"
#include "buoy/ops/device/launch_cuda.cuh"
#include "buoy/ops/experts/grouped_product_cuda.cuh"

namespace buoy::ops {
namespace {

constexpr int kThreads = 128, kWeightRows = 64, kPairs = 32, kTileInputs = 32;
constexpr int kStride = kTileInputs + 8;  // of a row in shared memory: keeps banks apart

__device__ inline float silu_times(float gate, float up) {
  return gate / (1.0f + __expf(-gate)) * up;
}

// Rows of a matrix, columns from `column` on, into a tile of kRows rows; what lies outside is zero.
template <int kRows, typename Row>
__device__ void load_tile(std::uint16_t (&tile)[kRows][kStride], const std::uint16_t* matrix,
                          const Row& row_of, int rows, int column, int columns) {
  constexpr int kPieces = kTileInputs / 8;
  for (int i = threadIdx.x; i < kRows * kPieces; i += kThreads) {
    const int row = i / kPieces, at = column + i % kPieces * 8;
    uint4 eight{0, 0, 0, 0};
    if (row < rows && at < columns)
      eight = __ldg(reinterpret_cast<const uint4*>(matrix + row_of(row) * columns + at));
    *reinterpret_cast<uint4*>(&tile[row][i % kPieces * 8]) = eight;
  }
}

__global__ void __launch_bounds__(kThreads) grouped_general(const GroupedProduct args) {
  __shared__ std::int32_t before[kMostExperts + 1];
  __shared__ __align__(16) std::uint16_t weight[kWeightRows][kStride];
  __shared__ __align__(16) std::uint16_t input[kPairs][kStride];
  const int experts = static_cast<int>(args.experts), inputs = static_cast<int>(args.inputs),
            outputs = static_cast<int>(args.outputs);
  wait_for_prior_grid();
  if (threadIdx.x < 32) {
    count_before(before, experts,
                 [&](int e) { return (args.first[e + 1] - args.first[e] + kPairs - 1) / kPairs; });
  }
  __syncthreads();
  const int tile = blockIdx.y;
  if (tile >= before[experts]) return;
  const int expert = place_of_tile(before, experts, tile);
  const int first_pair = args.first[expert] + (tile - before[expert]) * kPairs;
  const int pairs = min(kPairs, args.first[expert + 1] - first_pair);
  const int first_row = blockIdx.x * kWeightRows, rows = min(kWeightRows, outputs - first_row);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, r = lane / 4, q = lane % 4;
  const auto weight_row = [&](int row) {
    return static_cast<std::int64_t>(expert) * outputs + first_row + row;
  };
  const auto input_row = [&](int pair) -> std::int64_t {
    if (args.source == nullptr) return first_pair + pair;
    return __ldg(args.source + first_pair + pair) / static_cast<int>(args.chosen);
  };
  float sums[kPairs / 8][4] = {};
  for (int k = 0; k < inputs; k += kTileInputs) {
    load_tile(weight, args.weight, weight_row, rows, k, inputs);
    load_tile(input, args.input, input_row, pairs, k, inputs);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTileInputs; i += 16) {
      const auto word = [&](const auto& row, int column) {
        return *reinterpret_cast<const std::uint32_t*>(&row[i + column + 2 * q]);
      };
      const auto &low = weight[16 * warp + r], &high = weight[16 * warp + r + 8];
      const std::uint32_t a[4] = {word(low, 0), word(high, 0), word(low, 8), word(high, 8)};
#pragma unroll
      for (int b = 0; b < kPairs / 8; ++b) {
        const auto& column = input[8 * b + r];
        multiply_add(sums[b], a, word(column, 0), word(column, 8));
      }
    }
    __syncthreads();
  }
  const auto store = [&](int pair, int column, int columns, float value) {
    if (pair >= pairs || column >= columns) return;
    args.output[static_cast<std::int64_t>(first_pair + pair) * columns + column] =
        static_cast<std::uint16_t>(pack_bf16(value, 0));
  };
#pragma unroll
  for (int b = 0; b < kPairs / 8; ++b) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      const int pair = 8 * b + 2 * q + j;
      if (args.swiglu) {
        store(pair, first_row / 2 + 8 * warp + r, outputs / 2, silu_times(sums[b][j], sums[b][2 + j]));
      } else {
        store(pair, first_row + 16 * warp + r, outputs, sums[b][j]);
        store(pair, first_row + 16 * warp + r + 8, outputs, sums[b][2 + j]);
      }
    }
  }
}

}  // namespace

void multiply_grouped_general(const Stream& stream, const GroupedProduct& product) {
  BUOY_CHECK(product.inputs % 8 == 0 && product.outputs % 8 == 0 && product.experts <= kMostExperts);
  // As many tiles as there can be: each expert's last one may be short.
  const std::int64_t tiles = product.pairs / kPairs + std::min(product.pairs, product.experts);
  const std::int64_t columns = (product.outputs + kWeightRows - 1) / kWeightRows;
  BUOY_CHECK(tiles <= 65535);
  launch_kernel(
      {.grid = dim3(static_cast<unsigned>(columns), static_cast<unsigned>(tiles)), .block = kThreads}, stream,
      "grouped_general", grouped_general, product);
}

}  // namespace buoy::ops
