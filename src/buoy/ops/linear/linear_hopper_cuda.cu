#include "buoy/ops/linear/linear_hopper_cuda.cuh"

#include <algorithm>
#include <climits>

#include "buoy/ops/device/tensor_map_cuda.cuh"
#include "buoy/ops/linear/linear_hopper_kernel_cuda.cuh"

namespace buoy::ops {
namespace {

static_assert(kBestStretch == WideTile::kColumns);

constexpr int kRowsTogether = 8;

bool is_float(LinearOutput kind) {
  return kind == LinearOutput::kFloat || kind == LinearOutput::kAddFloat;
}

bool aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
}

std::int64_t columns_of(const DeviceLinearArgs& args) {
  return args.kind == LinearOutput::kSwiglu ? args.outputs / 2 : args.outputs;
}

int tiles(std::int64_t count, int size) {
  return static_cast<int>((count + size - 1) / size);
}

constexpr std::uint32_t kPanelRows = 64;

// Queries, keys and values, each in rows of their own.
template <typename Tile>
void describe_qkv(const DeviceLinearArgs& args, HopperLinearArgs& out) {
  const DeviceQkvArgs& qkv = *args.qkv;
  const std::int64_t query_width = qkv.heads * qkv.head_dim, key_width = qkv.kv_heads * qkv.head_dim;
  BUOY_CHECK(query_width + 2 * key_width == args.outputs && qkv.states.query_stride == query_width &&
             qkv.states.key_stride == key_width);
  out.outputs[0] = matrix_map(qkv.states.queries, query_width, args.rows, kPanelRows, Tile::kPanelBytes);
  out.outputs[1] = matrix_map(qkv.states.keys, key_width, args.rows, kPanelRows, Tile::kPanelBytes);
  out.outputs[2] = matrix_map(qkv.states.values, key_width, args.rows, kPanelRows, Tile::kPanelBytes);
  out.first_column[1] = static_cast<int>(query_width);
  out.first_column[2] = static_cast<int>(query_width + key_width);
  out.heads = {.rows = static_cast<int>(args.rows),
               .first_key = out.first_column[1],
               .first_value = out.first_column[2],
               .end = static_cast<int>(args.outputs),
               .cosines = qkv.rope.cosines,
               .sines = qkv.rope.sines,
               .query_scales = qkv.rope.query_scales,
               .key_scale = qkv.rope.key_scale,
               .positions = qkv.positions,
               .bias = qkv.bias,
               .query_norm = qkv.query_norm,
               .key_norm = qkv.key_norm,
               .eps = static_cast<float>(qkv.eps),
               .flag = qkv.flag,
               .code = qkv.code};
}

template <typename Tile>
constexpr int kClusterRows = Tile::kRows*(Tile::kSharesInput ? 1 : kLinearCluster);
template <typename Tile>
constexpr int kClusterColumns = Tile::kColumns*(Tile::kSharesInput ? kLinearCluster : 1);

template <typename Tile>
HopperLinearArgs kernel_args(const DeviceLinearArgs& args) {
  HopperLinearArgs out{};
  // A block brings half of what the cluster shares, and all of what it needs alone.
  out.input = matrix_map(args.input, args.inputs, args.rows,
                         Tile::kSharesInput ? Tile::kRows / kLinearCluster : Tile::kRows);
  out.weight = matrix_map(args.weight, args.inputs, args.outputs,
                          Tile::kSharesInput ? Tile::kColumns : Tile::kColumns / kLinearCluster);
  out.first_column[1] = out.first_column[2] = INT_MAX;
  if (args.kind == LinearOutput::kQkv) {
    describe_qkv<Tile>(args, out);
  } else if (args.kind == LinearOutput::kBest) {
    out.best = {.output = static_cast<StretchBest*>(args.output),
                .rows = static_cast<int>(args.rows),
                .stretches = tiles(args.outputs, Tile::kColumns),
                .end = static_cast<int>(args.outputs),
                .rules = args.best->rules,
                .ruled_rows = static_cast<int>(args.best->ruled_rows),
                .flag = args.best->flag,
                .code = args.best->code};
  } else if (is_float(args.kind)) {
    out.outputs[0] = matrix_map(static_cast<const float*>(args.output), args.outputs, args.rows, kPanelRows);
  } else {
    out.outputs[0] = matrix_map(static_cast<const std::uint16_t*>(args.output), columns_of(args), args.rows,
                                kPanelRows, Tile::kPanelBytes);
  }
  out.row_tiles = tiles(args.rows, kClusterRows<Tile>);
  out.input_tiles = tiles(args.inputs, kLinearTileInputs);
  out.rows_together = std::min(kRowsTogether, out.row_tiles);
  return out;
}

// The columns [first, end) of the output.
template <typename Tile, LinearOutput kKind, int kHeadDim = 0>
void launch(const Stream& stream, const DeviceLinearArgs& args, std::int64_t first, std::int64_t end) {
  HopperLinearArgs all = kernel_args<Tile>(args);
  all.first_tile_column = static_cast<int>(first / Tile::kColumns);
  all.column_tiles = tiles(end - first, kClusterColumns<Tile>);
  const int count = all.row_tiles * all.column_tiles,
            waves = tiles(count, gpu().multiprocessors / kLinearCluster);
  // As many clusters as the same number of waves needs: what is left may run something else all the while.
  const int clusters = tiles(count, waves);
  launch_kernel({.grid = dim3(static_cast<unsigned>(clusters * kLinearCluster)),
                 .block = kLinearThreads,
                 .shared_bytes = sizeof(LinearSharedStorage<Tile>),
                 .cluster = kLinearCluster,
                 .early = true},
                stream, "linear_hopper", linear_hopper<Tile, kKind, kHeadDim>, all);
}

template <typename Tile, LinearOutput kKind, int kHeadDim = 0>
void launch(const Stream& stream, const DeviceLinearArgs& args) {
  launch<Tile, kKind, kHeadDim>(stream, args, 0, args.outputs);
}

// A cache gets no copies.
bool can_finish(const DeviceQkvArgs& qkv) {
  return (qkv.head_dim == 64 || qkv.head_dim == 128) && 2 * qkv.rope.pairs == qkv.head_dim &&
         qkv.cache_rows == nullptr && qkv.flag != nullptr;
}

// How long a product takes, in tiles of 128 by 256 that a multiprocessor multiplies one after the other.
template <typename Tile>
double time_of(std::int64_t rows, std::int64_t columns) {
  const int count = tiles(rows, kClusterRows<Tile>) * tiles(columns, kClusterColumns<Tile>);
  constexpr double kTime =
      static_cast<double>(Tile::kRows) * Tile::kColumns / (WideTile::kRows * WideTile::kColumns);
  return kTime * tiles(count, gpu().multiprocessors / kLinearCluster);
}

// So many columns go through tall tiles, which have less to bring, the others through wide ones: as many as
// cost no wave.
std::int64_t tall_columns(const DeviceLinearArgs& args) {
  const double wide = time_of<WideTile>(args.rows, args.outputs);
  if (time_of<TallTile>(args.rows, args.outputs) <= wide) return args.outputs;
  constexpr std::int64_t kStep = 2 * kClusterColumns<TallTile>;  // where tiles of both kinds begin
  for (std::int64_t columns = args.outputs / kStep * kStep; columns > 0; columns -= kStep) {
    if (time_of<TallTile>(args.rows, columns) + time_of<WideTile>(args.rows, args.outputs - columns) <= wide)
      return columns;
  }
  return 0;
}

template <typename Tall, LinearOutput kKind>
void launch_both(const Stream& stream, const DeviceLinearArgs& args) {
  const std::int64_t tall = tall_columns(args);
  if (tall > 0) launch<Tall, kKind>(stream, args, 0, tall);
  if (tall < args.outputs) launch<WideTile, kKind>(stream, args, tall, args.outputs);
}

}  // namespace

bool hopper_can_multiply(const DeviceLinearArgs& args) {
  const bool in_pieces = args.inputs % 8 == 0 && columns_of(args) % (is_float(args.kind) ? 4 : 8) == 0;
  return gpu().major == 9 && gpu().minor == 0 && in_pieces && aligned(args.input) && aligned(args.weight) &&
         aligned(args.output) && (args.kind != LinearOutput::kQkv || can_finish(*args.qkv));
}

bool hopper_multiplies_faster(const DeviceLinearArgs& args) {
  constexpr std::int64_t kFewRows = 256;  // the library has smaller tiles
  constexpr double kEnough = 0.8;
  if (args.rows <= kFewRows) return false;
  const int clusters = gpu().multiprocessors / kLinearCluster,
            all = tiles(args.rows, kClusterRows<WideTile>) * tiles(args.outputs, WideTile::kColumns);
  return all >= kEnough * clusters * tiles(all, clusters);
}

void multiply_hopper(const Stream& stream, const DeviceLinearArgs& args) {
  switch (args.kind) {
    case LinearOutput::kBf16:
      return launch<WideTile, LinearOutput::kBf16>(stream, args);
    case LinearOutput::kFloat:
      return launch<WideTile, LinearOutput::kFloat>(stream, args);
    case LinearOutput::kAddFloat:
      return launch_both<TallFloatTile, LinearOutput::kAddFloat>(stream, args);
    case LinearOutput::kSwiglu:
      return launch_both<TallTile, LinearOutput::kSwiglu>(stream, args);
    case LinearOutput::kBest:
      return launch<WideTile, LinearOutput::kBest>(stream, args);
    case LinearOutput::kQkv:
      if (args.qkv->head_dim == 64) return launch<WideTile, LinearOutput::kQkv, 64>(stream, args);
      return launch<WideTile, LinearOutput::kQkv, 128>(stream, args);
  }
}

}  // namespace buoy::ops
