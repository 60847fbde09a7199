#include "buoy/ops/linear/linear_few_rows_cuda.cuh"

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/ops/device/tensor_map_cuda.cuh"
#include "buoy/ops/linear/linear_few_rows_kernel_cuda.cuh"

namespace buoy::ops {
namespace {

// Of a multiprocessor's 228 KB; the rest is for the small kernels that run beside the beginning of this one.
constexpr int kShared = 216 * 1024;

int quotient_up(std::int64_t count, std::int64_t size) {
  return static_cast<int>((count + size - 1) / size);
}

// How many clusters run at once where each block has a multiprocessor to itself.
template <int kRows>
int count_clusters() {
  cuda_check(
      cudaFuncSetAttribute(linear_few_rows<kRows>, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared),
      "ask for shared memory");
  cudaLaunchAttribute size{};
  size.id = cudaLaunchAttributeClusterDimension;
  size.val.clusterDim = {kFewParts, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(gpu().multiprocessors / kFewParts * kFewParts));
  config.blockDim = kFewThreads;
  config.dynamicSmemBytes = kShared;
  config.attrs = &size;
  config.numAttrs = 1;
  int count = 0;
  cuda_check(cudaOccupancyMaxActiveClusters(&count, linear_few_rows<kRows>, &config), "count clusters");
  BUOY_CHECK(count > 0);
  return count;
}

// All clusters have equally many tiles, as far as rows of the weight can be divided.
int choose_tile(const DeviceLinearArgs& args, int clusters) {
  const int turns = quotient_up(args.outputs, static_cast<std::int64_t>(clusters) * kMostFewTile),
            piece = args.kind == LinearOutput::kSwiglu ? 16 : 8;
  return std::max(16, quotient_up(args.outputs, static_cast<std::int64_t>(clusters) * turns * piece) * piece);
}

template <int kRows>
void launch(const Stream& stream, const DeviceLinearArgs& args) {
  using Memory = FewRowsMemory<kRows>;
  static const int most = count_clusters<kRows>();
  FewRowsArgs all{};
  all.tile_weights = choose_tile(args, most);
  all.weight =
      matrix_map(args.weight, args.inputs, args.outputs, static_cast<std::uint32_t>(all.tile_weights));
  all.input = matrix_map(args.input, args.inputs, args.rows, kRows);
  all.rows = static_cast<int>(args.rows);
  all.outputs = static_cast<int>(args.outputs);
  all.tiles = quotient_up(args.outputs, all.tile_weights);
  all.strips = quotient_up(all.tile_weights, 16);
  all.own_strips = quotient_up(all.strips, kFewParts);
  all.steps = quotient_up(args.inputs, kFewStep);
  all.kind = args.kind;
  all.output = args.output;

  // The last 64 rows that are multiplied may end behind the tile, and must lie in shared memory.
  const int stage = Memory::stage_bytes(all.tile_weights),
            sums = kFewParts * all.own_strips * (kRows / 8) * 32 * static_cast<int>(sizeof(float4)),
            beyond = (64 - all.tile_weights % 64) % 64 * Memory::kPanelRow - Memory::kInputBytes,
            besides = Memory::kBarriers + std::max(sums, beyond);
  all.stages = std::min((kShared - besides) / stage, kMostFewStages);
  BUOY_CHECK(all.stages >= 2);
  launch_kernel({.grid = dim3(static_cast<unsigned>(std::min(most, all.tiles) * kFewParts)),
                 .block = kFewThreads,
                 .shared_bytes = besides + all.stages * stage,
                 .cluster = kFewParts,
                 .early = true},
                stream, "linear_few_rows", linear_few_rows<kRows>, all);
}

bool aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
}

}  // namespace

bool few_rows_can_multiply(const DeviceLinearArgs& args) {
  constexpr std::int64_t kMost = 1 << 28;
  const bool is_float = args.kind == LinearOutput::kFloat || args.kind == LinearOutput::kAddFloat,
             kind = is_float || (args.kind == LinearOutput::kBf16 && args.outputs % 8 == 0) ||
                    (args.kind == LinearOutput::kSwiglu && args.outputs % 16 == 0);
  return kind && gpu().major == 9 && gpu().minor == 0 && args.rows <= kMostFewRows && args.inputs % 8 == 0 &&
         args.inputs < kMost && args.outputs < kMost && aligned(args.input) && aligned(args.weight) &&
         aligned(args.output);
}

void multiply_few_rows(const Stream& stream, const DeviceLinearArgs& args) {
  if (args.rows <= 8) return launch<8>(stream, args);
  if (args.rows <= 16) return launch<16>(stream, args);
  if (args.rows <= 32) return launch<32>(stream, args);
  launch<64>(stream, args);
}

}  // namespace buoy::ops
