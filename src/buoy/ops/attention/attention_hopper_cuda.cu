// Attention on Hopper, warp-specialised. A block of three warpgroups takes 128 queries of one head: the
// producer warp loads keys and values by TMA, the two consumer warpgroups take 64 queries each. While a
// warpgroup computes the softmax of one tile of scores, the tensor cores form its next scores and multiply
// its last weights with values, and the two warpgroups take turns (ping-pong). Two idle warps of the first
// sum the queries up where moments are wanted.

#include "buoy/ops/attention/attention_hopper_cuda.cuh"
#include "buoy/ops/device/launch_cuda.cuh"
#include "buoy/ops/device/tensor_map_cuda.cuh"
#include "buoy/ops/device/wgmma_cuda.cuh"

namespace buoy::ops {
namespace {

constexpr int kThreads = 384, kTileRows = 128, kTileKeys = 128, kStages = 2;

template <int kDim>
struct ForwardSharedStorage {
  static constexpr int kPanels = kDim / 64, kPanel = 128 * 64;  // numbers of a panel of 128 rows
  Bf16 queries[kPanels][kPanel];
  Bf16 keys[kStages][kPanels][kPanel];
  Bf16 values[kStages][kPanels][kPanel];
  std::uint64_t queries_full, queries_summed, keys_full[kStages], keys_empty[kStages], values_full[kStages],
      values_empty[kStages];
  SumsSharedStorage sums;
};

#ifdef BUOY_HAS_WGMMA

constexpr int kQueriesRead = 3, kSumming = 5;  // barriers of warps; 1 and 2 are the warpgroups' turns

// The producer warp. Keys run one tile ahead of values, as they are used.
template <int kDim>
__device__ void produce_tiles(ForwardSharedStorage<kDim>& smem, const CUtensorMap* query_map,
                              const CUtensorMap* key_map, const CUtensorMap* value_map,
                              const DeviceSequence& sequence, int first_row, int head, int key_head,
                              int tiles) {
  constexpr std::uint32_t kBytes = sizeof(smem.queries);
  mbarrier_arrive_expect_tx(&smem.queries_full, kBytes);
  for (int p = 0; p < smem.kPanels; ++p)
    tma_load(smem.queries[p], query_map, &smem.queries_full, 64 * p, head, sequence.query_start + first_row);
  const auto load = [&](auto& to, const CUtensorMap* map, std::uint64_t* full, std::uint64_t* empty,
                        int tile) {
    const int stage = tile % kStages;
    if (tile >= kStages) mbarrier_wait(&empty[stage], (tile / kStages - 1) % 2);
    mbarrier_arrive_expect_tx(&full[stage], kBytes);
    for (int p = 0; p < smem.kPanels; ++p)
      tma_load(to[stage][p], map, &full[stage], 64 * p, key_head, sequence.key_start + tile * kTileKeys);
  };
  if (tiles > 0) load(smem.keys, key_map, smem.keys_full, smem.keys_empty, 0);
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) load(smem.keys, key_map, smem.keys_full, smem.keys_empty, tile + 1);
    load(smem.values, value_map, smem.values_full, smem.values_empty, tile);
  }
}

// scores = queries keys^T, started but not waited for.
template <int kDim>
__device__ void start_scores(float (&scores)[64], std::uint64_t queries, std::uint64_t keys) {
  constexpr std::uint32_t kPanelBytes = 128 * 128;
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < kDim / 16; ++k) {
    const std::uint32_t at = k / 4 * kPanelBytes + k % 4 * 32;
    multiply_tile(scores, moved_by(queries, at), moved_by(keys, at), k > 0);
  }
  wgmma_commit();
}

// output += weights values, started but not waited for.
template <int kSize>
__device__ void start_output(float (&output)[kSize], const std::uint32_t (&weights)[32],
                             std::uint64_t values) {
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < kTileKeys / 16; ++k)
    multiply_add_values(output, weights + 4 * k, moved_by(values, k * 16 * 128));
  wgmma_commit();
}

// The epilogue. A warp's 16 rows go through the shared memory of its own queries, so that whole rows are
// written at once: the other warpgroup may still need its own. `tile_row` is their first in the tile,
// `first_row` in the sequence.
template <int kDim>
__device__ void write_rows(ForwardSharedStorage<kDim>& smem, const float (&output)[kDim / 2],
                           const float (&factor)[2], const ForwardArgs& args, const DeviceSequence& sequence,
                           int head, int tile_row, int first_row) {
  constexpr int kPieces = kDim / 8;
  const int lane = threadIdx.x % 32;
  const auto place = [&](int row, int piece) {
    return reinterpret_cast<unsigned char*>(smem.queries[piece / 8]) + (tile_row + row) * 128 +
           ((piece % 8) ^ (row & 7)) * 16;
  };
#pragma unroll
  for (int t = 0; t < kPieces; ++t) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = lane / 4 + 8 * r;
      *reinterpret_cast<std::uint32_t*>(place(row, t) + lane % 4 * 4) =
          pack_bf16(output[4 * t + 2 * r] * factor[r], output[4 * t + 2 * r + 1] * factor[r]);
    }
  }
  __syncwarp();
#pragma unroll
  for (int i = lane; i < 16 * kPieces; i += 32) {
    const int row = i / kPieces, piece = i % kPieces;
    if (first_row + row >= sequence.query_rows) continue;
    Bf16* to = args.output +
               (static_cast<std::int64_t>(sequence.query_start) + first_row + row) * args.output_stride +
               static_cast<std::int64_t>(head) * kDim + piece * 8;
    *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(place(row, piece));
  }
}

template <int kDim, bool kEntropy, bool kBias>
__device__ void attend(ForwardSharedStorage<kDim>& smem, const ForwardArgs& args,
                       const DeviceSequence& sequence, int tile_row, int head, int tiles) {
  const int group = threadIdx.x / 128 - 1, warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
  const int group_row = tile_row + group * (kTileRows / 2);
  int end[2], row[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    row[r] = group_row + warp * 16 + lane / 4 + 8 * r;
    end[r] = visible_keys(sequence, row[r]);
  }
  const int all_see = visible_keys(sequence, group_row);
  const std::uint64_t queries = moved_by(operand(smem.queries[0]), group * (kTileRows / 2) * 128);
  constexpr std::uint32_t kPanelBytes = sizeof(smem.queries[0]);
  const auto keys_of = [&](int stage) { return operand(smem.keys[stage][0]); };
  const auto values_of = [&](int stage) { return operand(smem.values[stage][0], kPanelBytes); };
  // The warpgroups take turns: each waits for the other to have started its products.
  const int own_turn = 1 + group, other_turn = 2 - group;

  RunningSoftmax<kEntropy> softmax;
  float scores[64], output[kDim / 2], rescale[2];
  bool follows = false;
  std::uint32_t weights[32];
#pragma unroll
  for (int i = 0; i < kDim / 2; ++i) output[i] = 0.0f;
  const auto weigh = [&](int tile) {
    const int first = tile * kTileKeys;
    float scale = args.scale;
    if (kBias) {
      add_bias(scores, args.key_bias + head * args.key_bias_stride + sequence.column_start + first,
               sequence.key_rows - first, scale);
      scale = 1.0f;
    }
    if (first + kTileKeys > all_see) hide_columns(scores, first, end);
    follows = softmax.take(scores, scale, rescale);
  };

  mbarrier_wait(&smem.queries_full, 0);  // without any key, too: outputs go through the same shared memory
  if (tiles > 0) {
    if (group == 1 && tiles > 1) named_barrier_arrive(other_turn, 256);
    mbarrier_wait(&smem.keys_full[0], 0);
    start_scores<kDim>(scores, queries, keys_of(0));
    wgmma_wait<0>();
    wgmma_fence_results(scores);
    mbarrier_arrive_per_warp(&smem.keys_empty[0]);
    weigh(0);
    pack_weights(weights, scores);
  }
  for (int tile = 1; tile < tiles; ++tile) {
    const int stage = tile % kStages, last = (tile - 1) % kStages;
    mbarrier_wait(&smem.keys_full[stage], tile / kStages % 2);
    named_barrier_sync(own_turn, 256);
    start_scores<kDim>(scores, queries, keys_of(stage));
    mbarrier_wait(&smem.values_full[last], (tile - 1) / kStages % 2);
    start_output(output, weights, values_of(last));
    if (group == 0 || tile + 1 < tiles) named_barrier_arrive(other_turn, 256);
    wgmma_wait<1>();
    wgmma_fence_results(scores);
    mbarrier_arrive_per_warp(&smem.keys_empty[stage]);
    weigh(tile);
    wgmma_wait<0>();
    wgmma_fence_results(output);
    wgmma_fence_results(weights);
    mbarrier_arrive_per_warp(&smem.values_empty[last]);
    if (follows) {
#pragma unroll
      for (int i = 0; i < kDim / 2; ++i) output[i] *= rescale[i / 2 % 2];
    }
    pack_weights(weights, scores);
  }
  if (tiles > 0) {
    const int last = tiles - 1;
    mbarrier_wait(&smem.values_full[last % kStages], last / kStages % 2);
    start_output(output, weights, values_of(last % kStages));
    wgmma_wait<0>();
    wgmma_fence_results(output);
  }
  const float factor[2] = {finish_row<kEntropy>(softmax.row(0), args, sequence, head, row[0], lane % 4 == 0),
                           finish_row<kEntropy>(softmax.row(1), args, sequence, head, row[1], lane % 4 == 0)};
  // Nobody needs the warpgroup's queries any more.
  named_barrier_sync(kQueriesRead + group, 128);
  if (kEntropy && args.moments.sums != nullptr) mbarrier_wait(&smem.queries_summed, 0);
  const int own_row = warp * 16;
  write_rows<kDim>(smem, output, factor, args, sequence, head, group * (kTileRows / 2) + own_row,
                   group_row + own_row);
}

#endif

template <int kDim, bool kEntropy, bool kBias>
__global__ void __launch_bounds__(kThreads, 1)
    forward_hopper(const __grid_constant__ CUtensorMap query_map, const __grid_constant__ CUtensorMap key_map,
                   const __grid_constant__ CUtensorMap value_map, const __grid_constant__ ForwardArgs args) {
#ifdef BUOY_HAS_WGMMA
  extern __shared__ __align__(1024) unsigned char shared[];
  auto& smem = *reinterpret_cast<ForwardSharedStorage<kDim>*>(shared);
  const Tile tile = args.tiles[blockIdx.x];
  const DeviceSequence sequence = args.sequences[tile.sequence];
  const int head = blockIdx.y;
  const int last_row = min(tile.first + kTileRows, sequence.query_rows) - 1;
  const int tiles = (visible_keys(sequence, last_row) + kTileKeys - 1) / kTileKeys;
  if (threadIdx.x == 0) {
    constexpr int kConsumerWarps = 8;
    mbarrier_init(&smem.queries_full, 1);
    mbarrier_init(&smem.queries_summed, kSumsThreads);
    for (int stage = 0; stage < kStages; ++stage) {
      mbarrier_init(&smem.keys_full[stage], 1);
      mbarrier_init(&smem.values_full[stage], 1);
      mbarrier_init(&smem.keys_empty[stage], kConsumerWarps);
      mbarrier_init(&smem.values_empty[stage], kConsumerWarps);
    }
    mbarrier_init_fence();
  }
  __syncthreads();
  launch_dependents();
  wait_for_prior_grid();
  if (threadIdx.x < 128) {
    setmaxnreg_dec<kEntropy ? 40 : 24>();
    if (threadIdx.x == 0) {
      produce_tiles(smem, &query_map, &key_map, &value_map, sequence, tile.first, head,
                    head / args.heads_per_key_head, tiles);
    }
    if (kEntropy && threadIdx.x >= 128 - kSumsThreads && args.moments.sums != nullptr) {
      mbarrier_wait(&smem.queries_full, 0);
      sum_rows<kDim>(smem.sums, smem.queries[0], args.moments, sequence, tile.first, head, kSumming,
                     threadIdx.x - (128 - kSumsThreads));
      mbarrier_arrive(&smem.queries_summed);
    }
  } else {
    setmaxnreg_inc<kEntropy ? 232 : 240>();
    attend<kDim, kEntropy, kBias>(smem, args, sequence, tile.first, head, tiles);
  }
#endif
}

template <int kDim, bool kEntropy, bool kBias>
void launch(const PlanState& plan, const ForwardArgs& args, const DeviceAttentionInputs& in,
            const Stream& stream) {
  const auto& shape = plan.shape;
  const CUtensorMap queries =
      rows_map(in.queries, kDim, shape.heads, in.query_buffer_rows, in.query_stride, kTileRows);
  const CUtensorMap keys =
      rows_map(in.keys, kDim, shape.kv_heads, in.key_buffer_rows, in.key_stride, kTileKeys);
  const CUtensorMap values =
      rows_map(in.values, kDim, shape.kv_heads, in.key_buffer_rows, in.value_stride, kTileKeys);
  launch_kernel({.grid = dim3(plan.query_tiles_128.count, static_cast<unsigned>(shape.heads)),
                 .block = kThreads,
                 .shared_bytes = sizeof(ForwardSharedStorage<kDim>),
                 .early = true},
                stream, "forward_hopper", forward_hopper<kDim, kEntropy, kBias>, queries, keys, values, args);
}

}  // namespace

void launch_forward_hopper(const PlanState& plan, ForwardArgs args, const DeviceAttentionInputs& inputs,
                           const Stream& stream) {
  args.tiles = plan.query_tiles_128.tiles;
  with_head_dim(plan.shape.head_dim, [&](auto dim) {
    // One variant for everything that is observed.
    with_flag(args.entropy != nullptr || args.moments.sums != nullptr, [&](auto entropy) {
      with_flag(args.key_bias != nullptr,
                [&](auto bias) { launch<dim(), entropy(), bias()>(plan, args, inputs, stream); });
    });
  });
}

}  // namespace buoy::ops
