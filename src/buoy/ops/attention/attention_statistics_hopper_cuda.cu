// The second pass on Hopper. A block takes 256 keys of one head and all queries that see them, 128 at a time:
// the producer warp loads tiles of queries with their normalisers and their rows of the one-hot matrix (TMA),
// four consumer warpgroups take 64 keys each. While one forms weights, the tensor cores form the scores of
// another. The weights, keys by queries, are then the left operand of the product with the one-hot matrix.
// Moments of the same queries and keys are fused in (qk_moments_fused_cuda.cuh).

#include "buoy/ops/attention/attention_hopper_cuda.cuh"
#include "buoy/ops/device/launch_cuda.cuh"
#include "buoy/ops/device/tensor_map_cuda.cuh"
#include "buoy/ops/device/wgmma_cuda.cuh"

namespace buoy::ops {
namespace {

constexpr int kWarpgroups = 4, kThreads = 128 * (1 + kWarpgroups), kTileRows = 128;

template <int kDim>
struct StatisticsSharedStorage {
  static constexpr int kPanels = kDim / 64, kPanel = 128 * 64, kStages = 3;
  Bf16 keys[2][kPanels][kPanel];  // halves of 128 keys
  Bf16 queries[kStages][kPanels][kPanel];
  Bf16 one_hot[kStages][2][kMostGroups * 64];  // groups by 64 queries
  float shift[kStages][kTileRows];
  std::int32_t close[kStages][kTileRows];  // which rows to look at closely
  RidingSharedStorage moments;
  std::uint64_t keys_full, full[kStages], empty[kStages], moments_full;
};

#ifdef BUOY_HAS_WGMMA

struct TilesOfRows {
  int first, count;  // of the rows that see some key of the block
};

template <int kDim>
__device__ void produce_tiles(StatisticsSharedStorage<kDim>& smem, const CUtensorMap* key_map,
                              const CUtensorMap* query_map, const CUtensorMap* group_map,
                              const StatisticsArgs& args, const DeviceSequence& sequence, int first_key,
                              int head, const TilesOfRows& tiles) {
  mbarrier_arrive_expect_tx(&smem.keys_full, sizeof(smem.keys));
  for (int half = 0; half < 2; ++half) {
    for (int p = 0; p < smem.kPanels; ++p) {
      tma_load(smem.keys[half][p], key_map, &smem.keys_full, 64 * p, head / args.heads_per_key_head,
               sequence.key_start + first_key + 128 * half);
    }
  }
  for (int tile = 0; tile < tiles.count; ++tile) {
    const int stage = tile % smem.kStages, first = tiles.first + tile * kTileRows;
    if (tile >= smem.kStages) mbarrier_wait(&smem.empty[stage], (tile / smem.kStages - 1) % 2);
    const bool close = args.row_weights != nullptr;
    mbarrier_arrive_expect_tx(&smem.full[stage], sizeof(smem.queries[0]) + sizeof(smem.one_hot[0]) +
                                                     sizeof(smem.shift[0]) +
                                                     (close ? sizeof(smem.close[0]) : 0));
    for (int p = 0; p < smem.kPanels; ++p) {
      tma_load(smem.queries[stage][p], query_map, &smem.full[stage], 64 * p, head,
               sequence.query_start + first);
    }
    const int padded = sequence.padded_start + first;
    for (int p = 0; p < 2; ++p)
      tma_load(smem.one_hot[stage][p], group_map, &smem.full[stage], padded + 64 * p, 0, 0);
    bulk_load(smem.shift[stage], args.row_shift + static_cast<std::int64_t>(head) * args.padded_rows + padded,
              &smem.full[stage], sizeof(smem.shift[0]));
    if (close)
      bulk_load(smem.close[stage], args.close_of_row + padded, &smem.full[stage], sizeof(smem.close[0]));
  }
}

template <int kDim>
__device__ void start_scores(float (&scores)[64], std::uint64_t keys, std::uint64_t queries) {
  constexpr std::uint32_t kPanelBytes = 128 * 128;
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < kDim / 16; ++k) {
    const std::uint32_t at = k / 4 * kPanelBytes + k % 4 * 32;
    multiply_tile(scores, moved_by(keys, at), moved_by(queries, at), k > 0);
  }
  wgmma_commit();
}

__device__ inline void start_received(float (&received)[8], const std::uint32_t (&weights)[32],
                                      std::uint64_t one_hot) {
  constexpr std::uint32_t kPanelBytes = kMostGroups * 128;
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < 8; ++k)
    multiply_add_groups(received, weights + 4 * k, moved_by(one_hot, k / 4 * kPanelBytes + k % 4 * 32));
  wgmma_commit();
}

constexpr int kKeyStep = 8;  // between a thread's keys

// What a thread knows of its two keys, and its warpgroup of all 64.
struct OwnKeys {
  int key[2], seen_from[2], all_seen_from;
  float bias[2];
};

template <bool kBias>
__device__ void weigh(float (&s)[64], const float* shift, const OwnKeys& own, float scale, int first_row) {
  const int part = threadIdx.x % 4 * 2;
#pragma unroll
  for (int t = 0; t < 16; ++t) {
    const float2 two = *reinterpret_cast<const float2*>(shift + 8 * t + part);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float below = i % 2 == 0 ? two.x : two.y;
      s[4 * t + i] = exp2_approx(fmaf(s[4 * t + i], scale, kBias ? own.bias[i / 2] - below : -below));
    }
  }
  if (first_row >= own.all_seen_from) return;
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    if (first_row + i / 4 * 8 + part + i % 2 < own.seen_from[i / 2 % 2]) s[i] = 0.0f;
  }
}

// The weights on key 0, which is row 0 of the first warpgroup.
__device__ inline void write_first_share(const float (&s)[64], const StatisticsArgs& args,
                                         const DeviceSequence& sequence, int head, int first_row) {
  if (threadIdx.x % 128 >= 4) return;
#pragma unroll
  for (int t = 0; t < 16; ++t) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = first_row + 8 * t + threadIdx.x * 2 % 8 + i;
      if (row < sequence.query_rows)
        args.first_share[static_cast<std::int64_t>(head) * args.rows + sequence.query_start + row] =
            s[4 * t + i];
    }
  }
}

// All weights of the rows that are looked at closely; `close` says which the tile's rows are.
__device__ inline void write_close_rows(const float (&s)[64], const StatisticsArgs& args,
                                        const DeviceSequence& sequence, int head, const std::int32_t* close,
                                        const OwnKeys& own) {
  const std::int64_t step = args.heads * args.row_weight_stride;
  float* const first = args.row_weights + head * args.row_weight_stride + own.key[0];
  const bool exists[2] = {own.key[0] < sequence.key_rows, own.key[1] < sequence.key_rows};
#pragma unroll
  for (int t = 0; t < 16; ++t) {
    const int2 two = *reinterpret_cast<const int2*>(close + 8 * t + threadIdx.x % 4 * 2);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int n = i == 0 ? two.x : two.y;
      float* to = first + n * step;
      if (n >= 0 && exists[0]) to[0] = s[4 * t + i];
      if (n >= 0 && exists[1]) to[kKeyStep] = s[4 * t + 2 + i];
    }
  }
}

// Products of keys with the queries of their own positions, where the tile has them.
__device__ inline void write_self(const float (&s)[64], const StatisticsArgs& args,
                                  const DeviceSequence& sequence, int head, int first_row,
                                  const OwnKeys& own) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int column = own.key[r] - first_row - threadIdx.x % 4 * 2;
    float self = 0;
    bool found = false;
#pragma unroll
    for (int t = 0; t < 16; ++t) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        if (column != 8 * t + i) continue;
        self = s[4 * t + 2 * r + i];
        found = true;
      }
    }
    if (!found || own.key[r] >= sequence.key_rows) continue;
    const std::int64_t at =
        static_cast<std::int64_t>(head) * args.columns + sequence.column_start + own.key[r];
    if (args.moments.after.self_dot != nullptr) args.moments.after.self_dot[at] = self;
    if (args.moments.before.self_dot != nullptr) args.moments.before.self_dot[at] = self;
  }
}

__device__ inline void write_received(const float (&received)[8], const StatisticsArgs& args,
                                      const DeviceSequence& sequence, int head, const OwnKeys& own) {
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int group = i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2, key = own.key[i / 2 % 2];
    if (group < args.groups && key < sequence.key_rows)
      args.received[(static_cast<std::int64_t>(group) * args.heads + head) * args.columns +
                    sequence.column_start + key] = received[i];
  }
}

template <int kDim, bool kBias>
__device__ void measure(StatisticsSharedStorage<kDim>& smem, const StatisticsArgs& args,
                        const DeviceSequence& sequence, int block_key, int head, const TilesOfRows& tiles) {
  constexpr int kStages = StatisticsSharedStorage<kDim>::kStages;
  const int group = threadIdx.x / 128 - 1, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
  const int first_key = block_key + group * 64;
  OwnKeys own;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int key = first_key + warp * 16 + lane / 4 + kKeyStep * r;
    own.key[r] = key;
    own.seen_from[r] = first_seeing_row(sequence, key);
    own.bias[r] = kBias && key < sequence.key_rows
                      ? args.key_bias[head * args.key_bias_stride + sequence.column_start + key] * kLog2E
                      : 0.0f;
  }
  own.all_seen_from = first_seeing_row(sequence, first_key + 63);
  const std::uint64_t keys = moved_by(operand(smem.keys[group / 2][0]), group % 2 * 64 * 128);
  const bool share = args.first_share != nullptr && first_key == 0, moments = args.moments.sums != nullptr;

  float scores[64], received[8] = {};
  std::uint32_t weights[32];
  if (tiles.count > 0) mbarrier_wait(&smem.keys_full, 0);
  // One thing after the other: with four warpgroups there is always one that needs the tensor cores. They
  // take turns, so that they do not all need them at the same time.
  for (int tile = 0; tile < tiles.count; ++tile) {
    const int stage = tile % kStages, first_row = tiles.first + tile * kTileRows;
    // Asked for here, needed after the products: so nobody waits for it.
    const unsigned close =
        args.row_weights != nullptr ? args.close_in_tile[(sequence.padded_start + first_row) / kTileRows] : 0;
    mbarrier_wait(&smem.full[stage], tile / kStages % 2);
    if (tile > 0 || group > 0) named_barrier_sync(1 + group, 256);
    start_scores<kDim>(scores, keys, operand(smem.queries[stage][0]));
    if (tile + 1 < tiles.count || group + 1 < kWarpgroups)
      named_barrier_arrive(1 + (group + 1) % kWarpgroups, 256);
    wgmma_wait<0>();
    wgmma_fence_results(scores);
    if (moments && first_row < first_key + 64 && first_key < first_row + kTileRows)
      write_self(scores, args, sequence, head, first_row, own);
    weigh<kBias>(scores, smem.shift[stage], own, args.scale, first_row);
    if (share) write_first_share(scores, args, sequence, head, first_row);
    if (close != 0) write_close_rows(scores, args, sequence, head, smem.close[stage], own);
    pack_weights(weights, scores);
    start_received(received, weights, operand(smem.one_hot[stage][0]));
    wgmma_wait<0>();
    wgmma_fence_results(received);
    mbarrier_arrive(&smem.empty[stage]);
  }
  if (args.received != nullptr) write_received(received, args, sequence, head, own);
  if (moments)
    write_key_moments<kDim>(smem.moments, &smem.moments_full, smem.keys[group / 2][0], args.moments, sequence,
                            first_key + warp * 16, group % 2 * 64 + warp * 16, head, args.columns);
}

#endif

template <int kDim, bool kBias>
__global__ void __launch_bounds__(kThreads, 1)
    statistics_hopper(const __grid_constant__ CUtensorMap key_map,
                      const __grid_constant__ CUtensorMap query_map,
                      const __grid_constant__ CUtensorMap group_map,
                      const __grid_constant__ StatisticsArgs args) {
#ifdef BUOY_HAS_WGMMA
  extern __shared__ __align__(1024) unsigned char shared[];
  auto& smem = *reinterpret_cast<StatisticsSharedStorage<kDim>*>(shared);
  const Tile tile = args.tiles[blockIdx.x];
  const DeviceSequence sequence = args.sequences[tile.sequence];
  const int head = blockIdx.y;
  const int first_row = first_seeing_row(sequence, tile.first) / kTileRows * kTileRows;
  const TilesOfRows tiles{first_row, max(0, (sequence.query_rows - first_row + kTileRows - 1) / kTileRows)};
  if (threadIdx.x == 0) {
    mbarrier_init(&smem.keys_full, 1);
    mbarrier_init(&smem.moments_full, kAddingThreads);  // each shows what it wrote itself
    for (int stage = 0; stage < smem.kStages; ++stage) {
      mbarrier_init(&smem.full[stage], 1);
      mbarrier_init(&smem.empty[stage], 128 * kWarpgroups);  // each reads normalisers itself
    }
    mbarrier_init_fence();
  }
  __syncthreads();
  launch_dependents();
  wait_for_prior_grid();
  if (threadIdx.x < 128) {
    setmaxnreg_dec<32>();
    if (threadIdx.x == 0 && tiles.count > 0)
      produce_tiles(smem, &key_map, &query_map, &group_map, args, sequence, tile.first, head, tiles);
    if (threadIdx.x >= 128 - kAddingThreads && args.moments.sums != nullptr) {
      add_all_chunks(smem.moments, args.moments, sequence, head, threadIdx.x - (128 - kAddingThreads));
      mbarrier_arrive(&smem.moments_full);
    }
  } else {
    setmaxnreg_inc<112>();
    measure<kDim, kBias>(smem, args, sequence, tile.first, head, tiles);
  }
#endif
}

template <int kDim, bool kBias>
void launch(const PlanState& plan, const StatisticsArgs& args, const DeviceAttentionInputs& in,
            const Stream& stream) {
  const auto& shape = plan.shape;
  const CUtensorMap keys = rows_map(in.keys, kDim, shape.kv_heads, in.key_buffer_rows, in.key_stride, 128);
  const CUtensorMap queries =
      rows_map(in.queries, kDim, shape.heads, in.query_buffer_rows, in.query_stride, kTileRows);
  const auto width = static_cast<std::uint64_t>(plan.padded_rows);
  const CUtensorMap groups = tensor_map({plan.one_hot.data(),
                                         {width, kMostGroups, 1},
                                         {2 * width, 2 * width * kMostGroups},
                                         {64, kMostGroups, 1}});
  launch_kernel({.grid = dim3(plan.key_tiles_256.count, static_cast<unsigned>(shape.heads)),
                 .block = kThreads,
                 .shared_bytes = sizeof(StatisticsSharedStorage<kDim>),
                 .early = true},
                stream, "statistics_hopper", statistics_hopper<kDim, kBias>, keys, queries, groups, args);
}

}  // namespace

void launch_statistics_hopper(const PlanState& plan, StatisticsArgs args, const DeviceAttentionInputs& inputs,
                              const Stream& stream) {
  args.tiles = plan.key_tiles_256.tiles;
  with_head_dim(plan.shape.head_dim, [&](auto dim) {
    with_flag(args.key_bias != nullptr,
              [&](auto bias) { launch<dim(), bias()>(plan, args, inputs, stream); });
  });
}

}  // namespace buoy::ops
