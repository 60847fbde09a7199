// The plan as the kernels see it, and what its host side keeps.

#pragma once

#include <cuda_bf16.h>

#include <cstdint>
#include <vector>

#include "buoy/ops/attention/attention_cuda.h"
#include "buoy/tensor/cuda_check.cuh"
#include "buoy/tensor/device_memory.h"

namespace buoy::ops {

using Bf16 = __nv_bfloat16;

inline constexpr int kMostGroups = 16;
inline constexpr int kRowsPadded = 128;  // a sequence's normalisers start at a multiple of this
inline constexpr int kCloseRowsOfTile = 32;
inline constexpr int kFewRows = 32;         // up to this many rows the keys are divided between thread blocks
inline constexpr int kFewTileRows = 64;     // of the heads that share keys, in one thread block
inline constexpr int kMostSplits = 32;      // parts the keys of few rows are divided into
inline constexpr int kPartWidth = 128 + 4;  // numbers of a row's part
inline constexpr int kMomentWidth = 4 * 128 + 2;  // of one partial sum of the moments

struct DeviceSequence {
  std::int32_t query_start, query_rows, first_position, key_start, key_rows;
  std::int32_t column_start;  // of its keys in the results
  std::int32_t padded_start;  // of its rows in the plan's own arrays
  std::int32_t prefix;        // keys that every row sees; 0 unless the mask is one of prefixes
  // Keys are seen in blocks: causal is blocks of 1, bidirectional one block longer than any sequence.
  std::int32_t block;
  std::int32_t before_grid;  // positions that the block of position 0 lacks at its front
  std::int32_t columns;      // key_rows, rounded up
};

struct Tile {
  std::int32_t sequence, first;  // first query row or key of the tile
};

// Up to 32 rows of one sequence.
struct CloseTile {
  std::int32_t sequence, count, first_result;
  std::int32_t rows[kCloseRowsOfTile];  // within the sequence
};

inline constexpr std::int32_t kWholeSequence = 1 << 29;

// A row sees its block and all before it, and every row sees the prefix. So a later row never sees less.
__host__ __device__ inline int visible_keys(const DeviceSequence& s, int row) {
  const int in_blocks = ((s.first_position + row + s.before_grid) / s.block + 1) * s.block - s.before_grid;
  const int end = in_blocks > s.prefix ? in_blocks : s.prefix;
  return end < s.key_rows ? end : s.key_rows;
}

// The first row that sees `key`; all later ones do too.
__host__ __device__ inline int first_seeing_row(const DeviceSequence& s, int key) {
  const int row = (key + s.before_grid) / s.block * s.block - s.before_grid - s.first_position;
  return row > 0 && key >= s.prefix ? row : 0;
}

struct TileList {
  const Tile* tiles = nullptr;  // device
  int count = 0;
};

struct PlanState {
  AttentionShape shape{};
  PlanLimits limits;
  bool hopper = false;        // the GPU is one, and its kernels are allowed
  bool early = false;         // the GPU can set up a kernel while the one before it runs
  bool all_seen = true;       // by every row of every sequence
  std::int64_t key_step = 1;  // what columns are rounded up to
  std::int64_t rows = 0, columns = 0, padded_rows = 0, groups = 1, longest_keys = 0, longest_rows = 0,
               close_rows = 0;
  std::vector<DeviceSequence> sequences;

  const DeviceSequence* device_sequences = nullptr;
  TileList query_tiles_64, query_tiles_128, key_tiles_64, key_tiles_128, key_tiles_256, moment_chunks;
  std::int64_t moment_rows = kRowsPadded;  // query rows of one partial sum of the moments
  int close_tiles = 0;

  int splits = 1;     // parts the keys are divided into
  int few_tiles = 1;  // tiles of kFewTileRows that a sequence then has

  // Of the lane in use.
  float* row_shift = nullptr;  // [heads, padded rows]: log2 of the normaliser; plus infinity: weighs nothing
  float *query_sums = nullptr, *query_norms = nullptr;  // see qk_moments_cuda.cuh

  DeviceMemory schedule, lanes;
  std::int64_t lane_size = 0, sums_at = 0, norms_at = 0;  // in floats
  DeviceMemory parts;                                     // float, see attention_few_rows_cuda.cu
  DeviceMemory row_groups;                                // uint8 [padded rows]
  DeviceMemory one_hot;                                   // bf16 [kMostGroups, padded rows]
  DeviceMemory close;                                     // CloseTile
  DeviceMemory close_of_row, close_in_tile;               // see StatisticsArgs
  bool queries_summed = false;                            // by the last first pass, in chunks of kRowsPadded
};

inline cudaStream_t raw(const Stream& stream) {
  return static_cast<cudaStream_t>(stream.handle());
}

}  // namespace buoy::ops
