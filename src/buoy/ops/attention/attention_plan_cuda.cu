#include <algorithm>
#include <utility>

#include "buoy/ops/attention/attention_plan_cuda.cuh"
#include "buoy/ops/device/launch_cuda.cuh"

namespace buoy::ops {
namespace {

std::int64_t padded(std::int64_t rows, std::int64_t to) {
  return (rows + to - 1) / to * to;
}

// Tiles of a quantity of every sequence, those with the most work first so that none is left to the end.
template <typename RowsOf, typename WorkOf>
std::vector<Tile> tiles_of(const std::vector<DeviceSequence>& sequences, int size, RowsOf rows_of,
                           WorkOf work_of) {
  std::vector<std::pair<std::int64_t, Tile>> weighed;
  for (size_t i = 0; i < sequences.size(); ++i) {
    for (int first = 0; first < rows_of(sequences[i]); first += size)
      weighed.push_back({work_of(sequences[i], first), {static_cast<std::int32_t>(i), first}});
  }
  std::stable_sort(weighed.begin(), weighed.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Tile> tiles;
  for (const auto& entry : weighed) tiles.push_back(entry.second);
  return tiles;
}

__global__ void expand_groups(const std::uint8_t* group_of_row, int padded_rows, Bf16* one_hot) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= padded_rows) return;
  for (int group = 0; group < kMostGroups; ++group) {
    one_hot[static_cast<std::int64_t>(group) * padded_rows + row] =
        __float2bfloat16(group_of_row[row] == group ? 1.0f : 0.0f);
  }
}

// Positions of a block: one, all, or as many as the sequence or the shape say.
std::int32_t block_of(const AttentionMask& mask, const PackedSequence& sequence) {
  switch (mask.kind) {
    case MaskKind::kBidirectional:
      return kWholeSequence;
    case MaskKind::kCausal:
    case MaskKind::kPrefix:
      return 1;
    case MaskKind::kBlockCausal:
      break;
  }
  const std::int64_t block = sequence.block > 0 ? sequence.block : mask.block;
  BUOY_CHECK(block > 0);
  return static_cast<std::int32_t>(std::min<std::int64_t>(block, kWholeSequence));
}

// Enough thread blocks to keep all multiprocessors of a large GPU reading keys.
constexpr std::int64_t kMostBlocks = 264, kKeysOfSplit = 64;

// How the keys of few rows are divided: in at most as many blocks as run at once. Of the limits and numbers
// of rows alone, so that it stays when keys are added.
void divide_keys(PlanState& s) {
  s.splits = 1;
  s.few_tiles = static_cast<int>(padded(s.longest_rows * (s.shape.heads / s.shape.kv_heads), kFewTileRows) /
                                 kFewTileRows);
  const std::int64_t blocks = s.query_tiles_64.count * s.shape.kv_heads * s.few_tiles;
  if (s.longest_rows > kFewRows || blocks == 0) return;
  const auto sequences = static_cast<std::int64_t>(s.sequences.size());
  const std::int64_t most_keys = s.limits.columns / sequences + 1;
  s.splits = static_cast<int>(std::clamp<std::int64_t>(
      std::min(kMostBlocks / blocks, padded(most_keys, kKeysOfSplit) / kKeysOfSplit), 1, kMostSplits));
}

}  // namespace

AttentionPlan::AttentionPlan(const AttentionShape& shape, const PlanLimits& limits)
    : state_(std::make_unique<PlanState>()) {
  BUOY_CHECK(shape.kv_heads > 0 && shape.heads % shape.kv_heads == 0);
  if (shape.head_dim <= 0 || shape.head_dim > 128 || shape.head_dim % 2 != 0)
    throw_usage_error(
        {"attention on the GPU: head_dim", "an even number up to 128", std::to_string(shape.head_dim)});
  PlanState& s = *state_;
  s.shape = shape;
  s.limits = limits;
  allow_hopper(true);
  const auto most_tiles = [&](std::int64_t rows, std::int64_t size) {
    return static_cast<size_t>(rows / size + limits.sequences);
  };
  s.schedule.reserve(static_cast<size_t>(limits.sequences) * sizeof(DeviceSequence) +
                     (most_tiles(limits.rows, 64) + 2 * most_tiles(limits.rows, 128) +
                      most_tiles(limits.columns, 64) + most_tiles(limits.columns, 128) +
                      most_tiles(limits.columns, 256)) *
                         sizeof(Tile) +
                     64);
  const size_t most_padded = most_tiles(limits.rows, kRowsPadded) * kRowsPadded;
  const auto per_row = static_cast<std::int64_t>(most_padded) * shape.heads;
  const std::int64_t sums = limits.statistics ? per_row / kRowsPadded * kMomentWidth : 0;
  s.lane_size = per_row + sums + (limits.statistics ? per_row : 0);
  s.lanes.reserve(static_cast<size_t>(limits.lanes * s.lane_size) * sizeof(float));
  s.sums_at = per_row;
  s.norms_at = per_row + sums;
  use_lane(0);
  s.parts.reserve(kMostBlocks * kFewTileRows * kPartWidth * sizeof(float));
  if (!limits.statistics) return;
  s.row_groups.reserve(most_padded);
  s.one_hot.reserve(kMostGroups * most_padded * sizeof(Bf16));
  s.close_of_row.reserve(most_padded * sizeof(std::int32_t));
  s.close_in_tile.reserve(most_padded / kRowsPadded);
  s.close.reserve(std::max<size_t>(1, static_cast<size_t>(limits.close_rows)) * sizeof(CloseTile));
}

AttentionPlan::~AttentionPlan() = default;
AttentionPlan::AttentionPlan(AttentionPlan&&) noexcept = default;
AttentionPlan& AttentionPlan::operator=(AttentionPlan&&) noexcept = default;

void AttentionPlan::use_lane(std::int64_t lane) {
  PlanState& s = *state_;
  BUOY_CHECK(lane >= 0 && lane < s.limits.lanes);
  s.row_shift = s.lanes.as<float>() + lane * s.lane_size;
  s.query_sums = s.row_shift + s.sums_at;
  s.query_norms = s.row_shift + s.norms_at;
}

void AttentionPlan::allow_hopper(bool allowed) {
  state_->hopper = allowed && gpu().major == 9;
  state_->early = gpu().major >= 9;
}

std::int64_t AttentionPlan::rows() const {
  return state_->rows;
}
bool AttentionPlan::all_seen() const {
  return state_->all_seen;
}
std::int64_t AttentionPlan::columns() const {
  return state_->columns;
}
std::uint64_t AttentionPlan::device_bytes() const {
  const PlanState& s = *state_;
  return s.schedule.bytes() + s.lanes.bytes() + s.parts.bytes() + s.row_groups.bytes() + s.one_hot.bytes() +
         s.close.bytes() + s.close_of_row.bytes() + s.close_in_tile.bytes();
}

void AttentionPlan::set_sequences(std::span<const PackedSequence> sequences, const Stream& stream,
                                  std::int64_t key_step) {
  PlanState& s = *state_;
  s.key_step = key_step;
  s.sequences.clear();
  s.all_seen = true;
  s.rows = s.columns = s.padded_rows = s.longest_keys = 0;
  s.longest_rows = 1;
  std::int64_t query_rows = 0;
  const bool prefixes = s.shape.mask.kind == MaskKind::kPrefix;
  for (const auto& q : sequences) {
    BUOY_CHECK(q.query_rows >= 0 && q.key_rows >= 0 && q.first_position >= 0 && q.query_start >= 0 &&
               q.key_start >= 0 && q.prefix >= 0 && q.grid_origin >= 0);
    const std::int32_t block = block_of(s.shape.mask, q);
    const bool in_blocks = s.shape.mask.kind == MaskKind::kBlockCausal;
    s.sequences.push_back({q.query_start, q.query_rows, q.first_position, q.key_start, q.key_rows,
                           static_cast<std::int32_t>(s.columns), static_cast<std::int32_t>(s.padded_rows),
                           prefixes                           ? q.prefix
                           : in_blocks && q.whole_before_grid ? q.grid_origin
                                                              : 0,
                           block, in_blocks ? (block - q.grid_origin % block) % block : 0,
                           static_cast<std::int32_t>(padded(q.key_rows, key_step))});
    s.all_seen &= visible_keys(s.sequences.back(), 0) == q.key_rows;
    s.rows = std::max<std::int64_t>(s.rows, q.query_start + q.query_rows);
    query_rows += q.query_rows;
    s.longest_rows = std::max<std::int64_t>(s.longest_rows, q.query_rows);
    s.columns += s.sequences.back().columns;
    s.longest_keys = std::max<std::int64_t>(s.longest_keys, s.sequences.back().columns);
    s.padded_rows += padded(q.query_rows, kRowsPadded);
  }
  BUOY_CHECK(static_cast<std::int64_t>(sequences.size()) <= s.limits.sequences &&
             query_rows <= s.limits.rows && s.columns <= s.limits.columns);

  std::vector<std::byte> packed(s.sequences.size() * sizeof(DeviceSequence));
  std::copy_n(reinterpret_cast<const std::byte*>(s.sequences.data()), packed.size(), packed.data());
  const auto* device = s.schedule.as<std::byte>();
  const auto add = [&](const std::vector<Tile>& tiles) {
    const size_t at = padded(static_cast<std::int64_t>(packed.size()), alignof(Tile));
    packed.resize(at + tiles.size() * sizeof(Tile));
    std::copy_n(reinterpret_cast<const std::byte*>(tiles.data()), tiles.size() * sizeof(Tile),
                packed.data() + at);
    return TileList{reinterpret_cast<const Tile*>(device + at), static_cast<int>(tiles.size())};
  };
  const auto query_tiles = [&](int size) {
    return add(tiles_of(
        s.sequences, size, [](const DeviceSequence& q) { return q.query_rows; },
        [&](const DeviceSequence& q, int first) {
          return visible_keys(q, std::min(first + size, q.query_rows) - 1);
        }));
  };
  const auto key_tiles = [&](int size) {
    return add(tiles_of(
        s.sequences, size, [](const DeviceSequence& q) { return q.columns; },
        [&](const DeviceSequence& q, int first) {
          return q.query_rows - std::min(q.query_rows, first_seeing_row(q, first));
        }));
  };
  s.device_sequences = reinterpret_cast<const DeviceSequence*>(device);
  s.query_tiles_64 = query_tiles(64);
  s.query_tiles_128 = query_tiles(128);
  // Every tile of keys adds up all partial sums: at most 32 of a sequence.
  constexpr std::int64_t kMostSums = 32;
  s.moment_rows = padded((s.longest_rows + kMostSums - 1) / kMostSums, kRowsPadded);
  s.moment_chunks = query_tiles(static_cast<int>(s.moment_rows));
  s.key_tiles_64 = key_tiles(64);
  s.key_tiles_128 = key_tiles(128);
  s.key_tiles_256 = key_tiles(256);
  divide_keys(s);
  copy_to_device(stream, s.schedule.data(), packed.data(), packed.size());
  set_close_rows({}, stream);
  if (s.limits.statistics) set_groups({}, 1, stream);
}

void AttentionPlan::set_groups(std::span<const std::uint8_t> group_of_row, std::int64_t groups,
                               const Stream& stream) {
  PlanState& s = *state_;
  BUOY_CHECK(s.limits.statistics && groups >= 1 && groups <= kMostGroups);
  BUOY_CHECK(group_of_row.empty() || static_cast<std::int64_t>(group_of_row.size()) == s.rows);
  s.groups = groups;
  constexpr std::uint8_t kNone = 255;
  std::vector<std::uint8_t> of_padded(static_cast<size_t>(s.padded_rows), kNone);
  for (const auto& q : s.sequences) {
    for (std::int32_t row = 0; row < q.query_rows; ++row) {
      const std::uint8_t group =
          group_of_row.empty() ? 0 : group_of_row[static_cast<size_t>(q.query_start + row)];
      of_padded[static_cast<size_t>(q.padded_start + row)] = group < groups ? group : kNone;
    }
  }
  if (of_padded.empty()) return;
  copy_to_device(stream, s.row_groups.data(), of_padded.data(), of_padded.size());
  const int count = static_cast<int>(of_padded.size());
  expand_groups<<<(count + 127) / 128, 128, 0, raw(stream)>>>(s.row_groups.as<std::uint8_t>(), count,
                                                              s.one_hot.as<Bf16>());
  check_launch("expand_groups");
}

void AttentionPlan::set_close_rows(std::span<const std::int32_t> rows, const Stream& stream) {
  PlanState& s = *state_;
  BUOY_CHECK(static_cast<std::int64_t>(rows.size()) <= s.limits.close_rows);
  std::vector<CloseTile> tiles;
  std::vector<std::int32_t> of_row(static_cast<size_t>(s.padded_rows), -1);
  std::vector<std::uint8_t> in_tile(static_cast<size_t>(s.padded_rows / kRowsPadded), 0);
  for (size_t n = 0; n < rows.size(); ++n) {
    BUOY_CHECK(n == 0 || rows[n - 1] < rows[n]);
    const auto owner = std::find_if(s.sequences.begin(), s.sequences.end(), [&](const DeviceSequence& q) {
      return rows[n] >= q.query_start && rows[n] < q.query_start + q.query_rows;
    });
    BUOY_CHECK(owner != s.sequences.end());
    const auto sequence = static_cast<std::int32_t>(owner - s.sequences.begin());
    if (tiles.empty() || tiles.back().sequence != sequence || tiles.back().count == kCloseRowsOfTile)
      tiles.push_back({sequence, 0, static_cast<std::int32_t>(n), {}});
    const std::int32_t row = rows[n] - owner->query_start;
    tiles.back().rows[tiles.back().count++] = row;
    of_row[static_cast<size_t>(owner->padded_start + row)] = static_cast<std::int32_t>(n);
    in_tile[static_cast<size_t>((owner->padded_start + row) / kRowsPadded)] = 1;
  }
  s.close_rows = static_cast<std::int64_t>(rows.size());
  s.close_tiles = static_cast<int>(tiles.size());
  if (tiles.empty()) return;
  BUOY_CHECK(s.limits.statistics);
  copy_to_device(stream, s.close.data(), tiles.data(), tiles.size() * sizeof(CloseTile));
  copy_to_device(stream, s.close_of_row.data(), of_row.data(), of_row.size() * sizeof(std::int32_t));
  copy_to_device(stream, s.close_in_tile.data(), in_tile.data(), in_tile.size());
}

}  // namespace buoy::ops
