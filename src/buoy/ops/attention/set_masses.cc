#include "buoy/ops/attention/set_masses.h"

#include <algorithm>

#include "buoy/base/error.h"

namespace buoy::ops {

void set_masses(const Context& context, std::span<const float> weights, std::int64_t keys,
                const KeySets& sets, std::span<float> masses) {
  if (sets.count() == 0 || keys == 0) return;
  const std::int64_t rows = std::ssize(weights) / keys;
  BUOY_CHECK(std::ssize(weights) == rows * keys && std::ssize(masses) == rows * sets.count());
  constexpr std::int64_t kAtOnce = 1 << 14;  // weights: enough for a thread to be worth waking
  const std::int64_t rows_at_once = std::max<std::int64_t>(1, kAtOnce / keys);
  context.threads.run((rows + rows_at_once - 1) / rows_at_once, [&](std::int64_t part, int) {
    const std::int64_t end = std::min(rows, (part + 1) * rows_at_once);
    for (std::int64_t row = part * rows_at_once; row < end; ++row) {
      const float* from = weights.data() + row * keys;
      for (std::int64_t set = 0; set < sets.count(); ++set) {
        double sum = 0;
        for (const auto& run : sets.of(set)) {
          BUOY_CHECK(run.end <= keys);
          for (std::int32_t key = run.begin; key < run.end; ++key) sum += from[key];
        }
        masses[static_cast<size_t>(row * sets.count() + set)] = static_cast<float>(sum);
      }
    }
  });
}

}  // namespace buoy::ops
