#include "ops/linear_hopper_cuda.cuh"

#include <algorithm>
#include <climits>

#include "ops/linear_hopper_kernel_cuda.cuh"
#include "ops/tensor_map_cuda.cuh"

namespace buoy::ops {
namespace {

static_assert(kBestStretch == kLinearTileColumns);

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
void describe_qkv(const DeviceLinearArgs& args, HopperLinearArgs& out) {
  const DeviceQkvArgs& qkv = *args.qkv;
  const std::int64_t query_width = qkv.heads * qkv.head_dim, key_width = qkv.kv_heads * qkv.head_dim;
  BUOY_CHECK(query_width + 2 * key_width == args.outputs && qkv.states.query_stride == query_width &&
             qkv.states.key_stride == key_width);
  out.outputs[0] = matrix_map(qkv.states.queries, query_width, args.rows, kPanelRows);
  out.outputs[1] = matrix_map(qkv.states.keys, key_width, args.rows, kPanelRows);
  out.outputs[2] = matrix_map(qkv.states.values, key_width, args.rows, kPanelRows);
  out.first_column[1] = static_cast<int>(query_width);
  out.first_column[2] = static_cast<int>(query_width + key_width);
  out.heads = {.rows = static_cast<int>(args.rows),
               .first_key = out.first_column[1],
               .first_value = out.first_column[2],
               .end = static_cast<int>(args.outputs),
               .cosines = qkv.rope.cosines,
               .sines = qkv.rope.sines,
               .positions = qkv.positions,
               .bias = qkv.bias,
               .query_norm = qkv.query_norm,
               .key_norm = qkv.key_norm,
               .eps = static_cast<float>(qkv.eps),
               .flag = qkv.flag,
               .code = qkv.code};
}

HopperLinearArgs kernel_args(const DeviceLinearArgs& args) {
  HopperLinearArgs out{};
  out.input = matrix_map(args.input, args.inputs, args.rows, kLinearTileRows);
  out.weight = matrix_map(args.weight, args.inputs, args.outputs, kLinearTileColumns / kLinearCluster);
  out.first_column[1] = out.first_column[2] = INT_MAX;
  if (args.kind == LinearOutput::kQkv) {
    describe_qkv(args, out);
  } else if (args.kind == LinearOutput::kBest) {
    out.best = {.output = static_cast<StretchBest*>(args.output),
                .rows = static_cast<int>(args.rows),
                .stretches = tiles(args.outputs, kLinearTileColumns),
                .end = static_cast<int>(args.outputs),
                .rules = args.best->rules,
                .ruled_rows = static_cast<int>(args.best->ruled_rows),
                .flag = args.best->flag,
                .code = args.best->code};
  } else if (is_float(args.kind)) {
    out.outputs[0] = matrix_map(static_cast<const float*>(args.output), args.outputs, args.rows, kPanelRows);
  } else {
    out.outputs[0] =
        matrix_map(static_cast<const std::uint16_t*>(args.output), columns_of(args), args.rows, kPanelRows);
  }
  out.row_tiles = tiles(args.rows, kLinearCluster * kLinearTileRows);
  out.column_tiles = tiles(args.outputs, kLinearTileColumns);
  out.input_tiles = tiles(args.inputs, kLinearTileInputs);
  out.rows_together = std::min(kRowsTogether, out.row_tiles);
  return out;
}

template <LinearOutput kKind, int kHeadDim = 0>
void launch(const Stream& stream, const DeviceLinearArgs& args) {
  const HopperLinearArgs all = kernel_args(args);
  const int count = all.row_tiles * all.column_tiles,
            waves = tiles(count, gpu().multiprocessors / kLinearCluster);
  // As many clusters as the same number of waves needs: what is left may run something else all the while.
  const int clusters = tiles(count, waves);
  launch_kernel({.grid = dim3(static_cast<unsigned>(clusters * kLinearCluster)),
                 .block = kLinearThreads,
                 .shared_bytes = sizeof(LinearRoom),
                 .cluster = kLinearCluster,
                 .early = true},
                stream, "linear_hopper", linear_hopper<kKind, kHeadDim>, all);
}

// A cache gets no copies.
bool can_finish(const DeviceQkvArgs& qkv) {
  return (qkv.head_dim == 64 || qkv.head_dim == 128) && 2 * qkv.rope.pairs == qkv.head_dim &&
         qkv.cache_rows == nullptr && qkv.flag != nullptr;
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
            all =
                tiles(args.rows, kLinearCluster * kLinearTileRows) * tiles(args.outputs, kLinearTileColumns);
  return all >= kEnough * clusters * tiles(all, clusters);
}

void multiply_hopper(const Stream& stream, const DeviceLinearArgs& args) {
  switch (args.kind) {
    case LinearOutput::kBf16:
      return launch<LinearOutput::kBf16>(stream, args);
    case LinearOutput::kFloat:
      return launch<LinearOutput::kFloat>(stream, args);
    case LinearOutput::kAddFloat:
      return launch<LinearOutput::kAddFloat>(stream, args);
    case LinearOutput::kSwiglu:
      return launch<LinearOutput::kSwiglu>(stream, args);
    case LinearOutput::kBest:
      return launch<LinearOutput::kBest>(stream, args);
    case LinearOutput::kQkv:
      if (args.qkv->head_dim == 64) return launch<LinearOutput::kQkv, 64>(stream, args);
      return launch<LinearOutput::kQkv, 128>(stream, args);
  }
}

}  // namespace buoy::ops
