#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/ops/attention/set_masses_cuda.h"
#include "buoy/ops/device/launch_cuda.cuh"

namespace buoy::ops {
namespace {

constexpr int kThreads = 128, kWarp = 32;

struct Args {
  DeviceSetMasses wanted;
  const std::int32_t *first_runs, *first_columns, *sequence_of_close, *runs;
  int sets;
  unsigned row_blocks;  // those before sum close rows, the others received attention
};

// One block per row of weights, one warp per set.
__global__ void __launch_bounds__(kThreads) sum_sets(Args args) {
  const DeviceSetMasses& w = args.wanted;
  const float* weights;
  float* out;
  int sequence;
  if (blockIdx.x < args.row_blocks) {
    const std::int64_t row = blockIdx.x;
    sequence = args.sequence_of_close[row / w.heads];
    weights = w.row_weights + row * w.row_weight_stride;
    out = w.row_masses + row * args.sets;
  } else {
    const std::int64_t row = blockIdx.x - args.row_blocks, rows = w.groups * w.heads;
    sequence = static_cast<int>(row / rows);
    weights = w.received + row % rows * w.columns + args.first_columns[sequence];
    out = w.group_masses + row * args.sets;
  }
  const std::int32_t* first_run = args.first_runs + sequence * (args.sets + 1);
  const int lane = threadIdx.x % kWarp;
  for (int set = threadIdx.x / kWarp; set < args.sets; set += kThreads / kWarp) {
    double sum = 0;
    for (int run = first_run[set]; run < first_run[set + 1]; ++run) {
      const int end = args.runs[2 * run + 1];
      for (int key = args.runs[2 * run] + lane; key < end; key += kWarp) sum += weights[key];
    }
    for (int other = kWarp / 2; other > 0; other /= 2) sum += __shfl_xor_sync(~0u, sum, other);
    if (lane == 0) out[set] = static_cast<float>(sum);
  }
}

}  // namespace

bool DeviceKeySets::set(const Packed& packed, const Stream& stream) {
  sequences_ = std::ssize(packed.of_sequence);
  close_rows_ = packed.close_rows;
  sets_ = 0;
  for (const auto& sets : packed.of_sequence) sets_ = std::max(sets_, sets ? sets->count() : 0);
  std::vector<std::int32_t> all, runs;
  for (const auto& sets : packed.of_sequence) {
    const auto before = static_cast<std::int32_t>(runs.size() / 2);
    for (std::int64_t set = 0; set <= sets_; ++set) {
      const std::int64_t known = sets ? std::min(set, sets->count()) : 0;
      all.push_back(before + (sets ? sets->first_runs()[static_cast<size_t>(known)] : 0));
    }
    if (!sets) continue;
    for (const auto& run : sets->runs()) runs.insert(runs.end(), {run.begin, run.end});
  }
  for (const auto column : packed.first_columns) all.push_back(static_cast<std::int32_t>(column));
  for (std::int64_t row = 0, sequence = 0; row < close_rows_; ++row) {
    while (sequence + 1 < sequences_ && packed.first_close[static_cast<size_t>(sequence + 1)] <= row)
      ++sequence;
    all.push_back(static_cast<std::int32_t>(sequence));
  }
  all.insert(all.end(), runs.begin(), runs.end());
  const void* before = memory_.data();
  memory_.reserve(all.size() * sizeof(std::int32_t));
  copy_to_device(stream, memory_.data(), all.data(), all.size() * sizeof(std::int32_t));
  return memory_.data() != before;
}

void set_masses_cuda(const DeviceKeySets& sets, const DeviceSetMasses& wanted, const Stream& stream) {
  if (sets.sets() == 0) return;
  const bool rows = wanted.row_masses != nullptr && wanted.close_rows > 0,
             groups = wanted.group_masses != nullptr;
  BUOY_CHECK(!rows || wanted.row_weights != nullptr);
  BUOY_CHECK(!groups || wanted.received != nullptr);
  Args args{wanted,
            sets.first_runs(),
            sets.first_columns(),
            sets.sequence_of_close(),
            sets.runs(),
            static_cast<int>(sets.sets()),
            rows ? static_cast<unsigned>(wanted.close_rows * wanted.heads) : 0};
  const auto blocks =
      args.row_blocks + (groups ? static_cast<unsigned>(sets.sequences() * wanted.groups * wanted.heads) : 0);
  if (blocks == 0) return;
  sum_sets<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream.handle())>>>(args);
  check_launch("sum_sets");
}

}  // namespace buoy::ops
