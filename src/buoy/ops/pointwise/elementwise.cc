#include "buoy/ops/pointwise/elementwise.h"

#include <algorithm>
#include <atomic>

#include "buoy/base/error.h"
#include "buoy/ops/pointwise/elementwise_cpu.h"

namespace buoy::ops {
namespace {

constexpr std::int64_t kPerTask = 1 << 14;

template <typename Task>
void in_pieces(const Context& context, std::int64_t count, const Task& task) {
  BUOY_CHECK(count >= 0);
  context.threads.run((count + kPerTask - 1) / kPerTask, [&](std::int64_t piece, int) {
    const std::int64_t first = piece * kPerTask;
    task(first, std::min(kPerTask, count - first));
  });
}

}  // namespace

void swiglu(const Context& context, float* gate, const float* up, std::int64_t count) {
  in_pieces(context, count, [&](std::int64_t first, std::int64_t n) {
    swiglu_cpu(gate + first, up + first, static_cast<size_t>(n));
  });
}

void add(const Context& context, float* sum, const float* term, std::int64_t count) {
  in_pieces(context, count, [&](std::int64_t first, std::int64_t n) {
    for (std::int64_t i = first; i < first + n; ++i) sum[i] += term[i];
  });
}

bool all_finite(const Context& context, const float* values, std::int64_t count) {
  std::atomic<bool> finite{true};
  in_pieces(context, count, [&](std::int64_t first, std::int64_t n) {
    if (!all_finite_cpu(values + first, static_cast<size_t>(n))) finite = false;
  });
  return finite;
}

}  // namespace buoy::ops
