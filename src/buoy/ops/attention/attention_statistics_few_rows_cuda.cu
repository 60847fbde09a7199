// The second pass for few rows, as where blocks are decoded with a cache: what keys receive, rows in full and
// the moments of queries and keys in one kernel, from one product of a tile of keys with the rows of a head.
// With so few rows the moments are sums over that product: nothing has to be summed over queries before.
//
// Moments before the rotation take rows that were turned back. These are no bf16 numbers, so each is the sum
// of two: with three products instead of one nothing is lost that matters.

#include <algorithm>

#include "buoy/ops/attention/attention_general_cuda.cuh"
#include "buoy/ops/device/launch_cuda.cuh"
#include "buoy/ops/moments/qk_moments_cuda.cuh"

namespace buoy::ops {
namespace {

constexpr int kThreads = 128, kKeys = 64, kRows = kFewRows;

struct KernelArgs {
  StatisticsArgs common;
  DeviceQkMoments moments;
  int heads_of_block;
};

template <int kDim>
struct Storage {
  SharedTile<kKeys, kDim, kThreads> keys, keys_back[2];
  SharedTile<kRows, kDim, kThreads> queries, queries_back[2];
  float shift[kRows], norm[kRows], inverse[kRows];
  std::int32_t close[kRows];
  std::uint8_t group[kRows];
  float key_norm[kKeys];
};

struct RowSource {
  const Bf16* first;  // element 0 of row 0
  std::int64_t stride;
  int rows;      // that exist
  int position;  // of row 0
};

__device__ inline void unpack_eight(const uint4& piece, float (&out)[8]) {
  const std::uint32_t words[4] = {piece.x, piece.y, piece.z, piece.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 two = unpack_bf16(words[i]);
    out[2 * i] = two.x, out[2 * i + 1] = two.y;
  }
}

// As the sum of two bf16 numbers each.
__device__ inline void store_split(__nv_bfloat16* high, __nv_bfloat16* low, const float (&x)[8]) {
  std::uint32_t first[4], rest[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    first[i] = pack_bf16(x[2 * i], x[2 * i + 1]);
    const float2 taken = unpack_bf16(first[i]);
    rest[i] = pack_bf16(x[2 * i] - taken.x, x[2 * i + 1] - taken.y);
  }
  *reinterpret_cast<uint4*>(high) = uint4{first[0], first[1], first[2], first[3]};
  *reinterpret_cast<uint4*>(low) = uint4{rest[0], rest[1], rest[2], rest[3]};
}

// Loads rows, finds their lengths and turns them back: eight columns of both halves a thread. `lengths` are
// told to `found(row, length)`, once a row.
template <int kDim, typename Tile, typename Found>
__device__ void load_rows(Tile& tile, Tile* back, const RowSource& source, const StatisticsArgs& args,
                          const DeviceRopeTable& rope, int last_position, const Found& found) {
  constexpr int kPieces = kDim / 16, kStride = Tile::kStride,
                kAll = static_cast<int>(sizeof(tile.data) / sizeof(Bf16)) / kStride * kPieces;
  const int half = args.head_dim / 2;
#pragma unroll 4
  for (int i = threadIdx.x; i < kAll; i += kThreads) {
    const int row = i / kPieces, column = i % kPieces * 8;
    // Beyond head_dim there are zeros, in as many pieces.
    const bool inside = column < half;
    const int low_at = inside ? column : args.head_dim + 2 * (column - half),
              high_at = inside ? half + column : low_at + 8;
    uint4 low{0, 0, 0, 0}, high{0, 0, 0, 0};
    if (row < source.rows && inside) {
      const Bf16* from = source.first + row * source.stride + column;
      low = __ldg(reinterpret_cast<const uint4*>(from));
      high = __ldg(reinterpret_cast<const uint4*>(from + half));
    }
    *reinterpret_cast<uint4*>(tile.data + row * kStride + low_at) = low;
    *reinterpret_cast<uint4*>(tile.data + row * kStride + high_at) = high;
    float x[8], y[8];
    unpack_eight(low, x);
    unpack_eight(high, y);
    float squares = 0;
#pragma unroll
    for (int e = 0; e < 8; ++e) squares = fmaf(x[e], x[e], fmaf(y[e], y[e], squares));
#pragma unroll
    for (int other = 1; other < kPieces; other *= 2) squares += __shfl_xor_sync(~0u, squares, other);
    if (column == 0) found(row, sqrtf(squares));
    if (rope.cosines == nullptr) continue;
    if (inside) {
      EightAngles angles;
      angles.load(rope, min(source.position + row, last_position), column);
      angles.turn_back(x, y);
    }
    store_split(back[0].data + row * kStride + low_at, back[1].data + row * kStride + low_at, x);
    store_split(back[0].data + row * kStride + high_at, back[1].data + row * kStride + high_at, y);
  }
}

// s [16 keys, kRows] += keys [kKeys, kDim] times the rows of `queries`.
template <int kDim, typename Keys, typename Queries>
__device__ void multiply(float (&s)[kRows / 2], const Keys& keys, const Queries& queries, int warp_key) {
#pragma unroll
  for (int k = 0; k < kDim / 16; ++k) {
    std::uint32_t left[4];
    keys.left(left, warp_key, 16 * k);
#pragma unroll
    for (int n = 0; n < kRows / 16; ++n) {
      std::uint32_t right[4];
      queries.right_of_rows(right, 16 * n, 16 * k);
      multiply_add(s + 8 * n, left, right[0], right[1]);
      multiply_add(s + 8 * n + 4, left, right[2], right[3]);
    }
  }
}

// Of the rows that see a key.
struct KeySums {
  float dot = 0, cosine = 0, norms = 0, taken = 0, self = 0;

  __device__ void add_up() {
    dot = sum_of_quad(dot), cosine = sum_of_quad(cosine), norms = sum_of_quad(norms);
    taken = sum_of_quad(taken), self = sum_of_quad(self);
  }
};

// A lane of the quad to each array.
__device__ inline void write(const DeviceQkColumns& to, std::int64_t at, const KeySums& sums, float norm) {
  const float each = sums.taken > 0 ? 1.0f / sums.taken : 0.0f, inverse = norm > 0 ? each / norm : 0.0f;
  const int part = threadIdx.x % 4;
  float* const here = part == 0 ? to.dot : part == 1 ? to.cosine : part == 2 ? to.norm_product : to.self_dot;
  if (here == nullptr) return;
  here[at] = part == 0   ? sums.dot * each
             : part == 1 ? sums.cosine * inverse
             : part == 2 ? sums.norms * norm * each
                         : sums.self;
}

template <int kDim>
__device__ void write_value_norms(const KernelArgs& args, const DeviceSequence& sequence, int first_key,
                                  int key_head) {
  constexpr int kPieces = kDim / 8;
  const DeviceAttentionInputs& in = args.moments.inputs;
  for (int i = threadIdx.x; i < kKeys * kPieces; i += kThreads) {
    const int key = first_key + i / kPieces, column = i % kPieces * 8;
    uint4 eight{0, 0, 0, 0};
    if (key < sequence.key_rows)
      eight = load_eight(
          row_of(in.values, in.value_stride, sequence.key_start + key, key_head, args.common.head_dim),
          column, args.common.head_dim, true);
    float x[8], squares = 0;
    unpack_eight(eight, x);
#pragma unroll
    for (int e = 0; e < 8; ++e) squares = fmaf(x[e], x[e], squares);
#pragma unroll
    for (int other = 1; other < kPieces; other *= 2) squares += __shfl_xor_sync(~0u, squares, other);
    if (column == 0 && key < sequence.key_rows)
      args.moments.value_norm[static_cast<std::int64_t>(key_head) * args.common.columns +
                              sequence.column_start + key] = sqrtf(squares);
  }
}

// Two numbers of the one-hot matrix [query, group]: queries `pair` and `pair + 1`.
__device__ inline std::uint32_t one_hot_pair(const std::uint8_t* pair, int group) {
  return (pair[0] == group ? 0x3F80u : 0u) | (pair[1] == group ? 0x3F800000u : 0u);
}

// One block: 64 keys of one key head, 16 to a warp, and all rows of some of the heads that share it.
template <int kDim, bool kMoments>
__global__ void __launch_bounds__(kThreads) statistics_few(const __grid_constant__ KernelArgs all) {
  extern __shared__ __align__(16) unsigned char shared[];
  auto& smem = *reinterpret_cast<Storage<kDim>*>(shared);
  const StatisticsArgs& args = all.common;
  const DeviceQkMoments& moments = all.moments;
  const Tile tile = args.tiles[blockIdx.x];
  const DeviceSequence sequence = args.sequences[tile.sequence];
  const int key_head = blockIdx.y, lane = threadIdx.x % 32, warp_key = threadIdx.x / 32 * 16;
  const DeviceRopeTable rope = kMoments ? moments.rope : DeviceRopeTable{};
  const bool back = rope.cosines != nullptr;
  const auto column_of = [&](int heads_before, int key) {
    return static_cast<std::int64_t>(heads_before) * args.columns + sequence.column_start + key;
  };

  load_rows<kDim>(
      smem.keys, smem.keys_back,
      {args.keys + (static_cast<std::int64_t>(sequence.key_start) + tile.first) * args.key_stride +
           static_cast<std::int64_t>(key_head) * args.head_dim,
       args.key_stride, sequence.key_rows - tile.first, tile.first},
      args, rope, sequence.key_rows - 1, [&](int row, float norm) {
        smem.key_norm[row] = norm;
        if (kMoments && moments.key_norm != nullptr && blockIdx.z == 0 &&
            tile.first + row < sequence.key_rows)
          moments.key_norm[column_of(key_head, tile.first + row)] = norm;
      });
  if (kMoments && moments.value_norm != nullptr && blockIdx.z == 0)
    write_value_norms<kDim>(all, sequence, tile.first, key_head);

  int key[2], seen_from[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    key[r] = tile.first + warp_key + lane / 4 + 8 * r;
    seen_from[r] = first_seeing_row(sequence, key[r]);
  }
  const int first_head = blockIdx.z * all.heads_of_block,
            end_head = min(first_head + all.heads_of_block, args.heads_per_key_head);
  for (int number = first_head; number < end_head; ++number) {
    const int head = key_head * args.heads_per_key_head + number;
    __syncthreads();
    load_rows<kDim>(
        smem.queries, smem.queries_back,
        {args.queries + static_cast<std::int64_t>(sequence.query_start) * args.query_stride +
             static_cast<std::int64_t>(head) * args.head_dim,
         args.query_stride, sequence.query_rows, sequence.first_position},
        args, rope, sequence.first_position + sequence.query_rows - 1, [&](int row, float norm) {
          smem.norm[row] = norm;
          smem.inverse[row] = norm > 0 ? 1.0f / norm : 0.0f;
          if (kMoments && moments.query_norm != nullptr && tile.first == 0 && row < sequence.query_rows)
            moments.query_norm[static_cast<std::int64_t>(head) * args.rows + sequence.query_start + row] =
                norm;
        });
    if (threadIdx.x < kRows) {
      const int row = threadIdx.x;
      const bool exists = row < sequence.query_rows;
      const std::int64_t at = sequence.padded_start + row;
      smem.shift[row] =
          exists ? args.row_shift[static_cast<std::int64_t>(head) * args.padded_rows + at] : INFINITY;
      smem.group[row] = exists ? args.row_groups[at] : 255;
      smem.close[row] = exists && args.row_weights != nullptr ? args.close_of_row[at] : -1;
    }
    __syncthreads();

    float s[kRows / 2] = {};
    multiply<kDim>(s, smem.keys, smem.queries, warp_key);
    const auto row_at = [&](int i) { return i / 4 * 8 + lane % 4 * 2 + i % 2; };
    const auto seen = [&](int i) {
      return row_at(i) >= seen_from[i / 2 % 2] && row_at(i) < sequence.query_rows;
    };
    if (kMoments) {
      KeySums sums[2];
#pragma unroll
      for (int i = 0; i < kRows / 2; ++i) {
        const int row = row_at(i), r = i / 2 % 2;
        if (row < sequence.query_rows && row + sequence.first_position == key[r]) sums[r].self = s[i];
        if (!seen(i)) continue;
        sums[r].dot += s[i];
        sums[r].cosine = fmaf(s[i], smem.inverse[row], sums[r].cosine);
        sums[r].norms += smem.norm[row];
        sums[r].taken += 1;
      }
      KeySums before[2];
      if (back) {
        float turned[kRows / 2] = {};
        multiply<kDim>(turned, smem.keys_back[1], smem.queries_back[0], warp_key);
        multiply<kDim>(turned, smem.keys_back[0], smem.queries_back[1], warp_key);
        multiply<kDim>(turned, smem.keys_back[0], smem.queries_back[0], warp_key);
#pragma unroll
        for (int i = 0; i < kRows / 2; ++i) {
          if (!seen(i)) continue;
          before[i / 2 % 2].dot += turned[i];
          before[i / 2 % 2].cosine = fmaf(turned[i], smem.inverse[row_at(i)], before[i / 2 % 2].cosine);
        }
      }
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        // What does not depend on the rotation is the same.
        before[r].norms = sums[r].norms, before[r].taken = sums[r].taken, before[r].self = sums[r].self;
        sums[r].add_up();
        before[r].add_up();
        if (key[r] >= sequence.key_rows) continue;
        const float norm = smem.key_norm[key[r] - tile.first];
        write(moments.after, column_of(head, key[r]), sums[r], norm);
        if (back) write(moments.before, column_of(head, key[r]), before[r], norm);
      }
    }

    float bias[2] = {0, 0};
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (args.key_bias != nullptr && key[r] < sequence.key_rows)
        bias[r] = args.key_bias[head * args.key_bias_stride + sequence.column_start + key[r]] * kLog2E;
    }
#pragma unroll
    for (int i = 0; i < kRows / 2; ++i) {
      const float weight = exp2_approx(fmaf(s[i], args.scale, bias[i / 2 % 2] - smem.shift[row_at(i)]));
      s[i] = seen(i) ? weight : 0.0f;
    }
    if (args.first_share != nullptr && tile.first + warp_key == 0 && lane < 4) {
#pragma unroll
      for (int i = 0; i < kRows / 2; ++i) {
        if (i / 2 % 2 == 0 && row_at(i) < sequence.query_rows)
          args.first_share[static_cast<std::int64_t>(head) * args.rows + sequence.query_start + row_at(i)] =
              s[i];
      }
    }
    if (args.row_weights != nullptr) {
#pragma unroll
      for (int i = 0; i < kRows / 2; ++i) {
        const std::int64_t close = smem.close[row_at(i)];
        const int own = key[i / 2 % 2];
        if (close >= 0 && own < sequence.key_rows)
          args.row_weights[(close * args.heads + head) * args.row_weight_stride + own] = s[i];
      }
    }
    if (args.received == nullptr) continue;
    float received[8] = {};
#pragma unroll
    for (int k = 0; k < kRows / 16; ++k) {
      const std::uint32_t weights[4] = {
          pack_bf16(s[8 * k], s[8 * k + 1]), pack_bf16(s[8 * k + 2], s[8 * k + 3]),
          pack_bf16(s[8 * k + 4], s[8 * k + 5]), pack_bf16(s[8 * k + 6], s[8 * k + 7])};
      const std::uint8_t* groups = smem.group + 16 * k + lane % 4 * 2;
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        const int group = 8 * n + lane / 4;
        multiply_add(received + 4 * n, weights, one_hot_pair(groups, group), one_hot_pair(groups + 8, group));
      }
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int group = i / 4 * 8 + lane % 4 * 2 + i % 2, own = key[i / 2 % 2];
      if (group < args.groups && own < sequence.key_rows)
        args.received[column_of(group * args.heads + head, own)] = received[i];
    }
  }
}

}  // namespace

bool few_rows_can_measure(const PlanState& plan, const StatisticsArgs& args, const DeviceQkMoments* moments) {
  if (plan.longest_rows > kFewRows || args.head_dim % 16 != 0 || !args.aligned) return false;
  return moments == nullptr || (moments->use_row == nullptr && (moments->rope.cosines == nullptr ||
                                                                2 * moments->rope.pairs == args.head_dim));
}

void launch_statistics_few(const PlanState& plan, StatisticsArgs args, const DeviceQkMoments* moments,
                           const Stream& stream) {
  if (plan.key_tiles_64.count == 0) return;
  args.tiles = plan.key_tiles_64.tiles;
  KernelArgs all{args, moments != nullptr ? *moments : DeviceQkMoments{}, 0};
  // Enough blocks for a large GPU, each with as many heads as that allows.
  constexpr int kEnoughBlocks = 264;
  const int key_heads = static_cast<int>(plan.shape.kv_heads), blocks = plan.key_tiles_64.count * key_heads;
  const int parts = std::clamp((kEnoughBlocks + blocks - 1) / blocks, 1, args.heads_per_key_head);
  all.heads_of_block = (args.heads_per_key_head + parts - 1) / parts;
  with_dim(args.head_dim, [&](auto dim) {
    constexpr int kDim = decltype(dim)::value;
    static_assert(sizeof(Storage<kDim>) <= kLeastSharedMemory);
    launch_kernel({.grid = dim3(static_cast<unsigned>(plan.key_tiles_64.count),
                                static_cast<unsigned>(key_heads), static_cast<unsigned>(parts)),
                   .block = kThreads,
                   .shared_bytes = sizeof(Storage<kDim>)},
                  stream, "statistics_few",
                  moments != nullptr ? statistics_few<kDim, true> : statistics_few<kDim, false>, all);
  });
}

}  // namespace buoy::ops
