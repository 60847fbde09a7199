#include "buoy/decode/block_schedule.h"

#include <algorithm>
#include <cmath>

namespace buoy::decode {

std::vector<std::int64_t> quota_counts(std::int64_t masks, std::int32_t steps) {
  std::vector<std::int64_t> counts;
  for (std::int32_t i = 0; i < steps; ++i) counts.push_back(masks / steps + (i < masks % steps ? 1 : 0));
  return counts;
}

std::vector<std::int64_t> dllm_counts(std::int64_t masks, std::int32_t steps) {
  std::vector<std::int64_t> counts;
  for (std::int32_t i = 0; i < steps && masks > 0; ++i) {
    // Every intermediate is stored: float32 must not be kept in wider registers or fused.
    const volatile float now = static_cast<float>(static_cast<double>(steps - i) / steps);
    const volatile float later = static_cast<float>(static_cast<double>(steps - 1 - i) / steps);
    const volatile float alpha_now = 1.0f - now, alpha_later = 1.0f - later;
    const volatile float masked_now = 1.0f - alpha_now, masked_later = 1.0f - alpha_later;
    const volatile float kept = masked_later / masked_now;
    const float ratio = 1.0f - kept;
    const double exact = static_cast<double>(masks) * static_cast<double>(ratio);
    const auto count = std::min(static_cast<std::int64_t>(std::nearbyint(exact)), masks);
    if (count > 0) counts.push_back(count);
    masks -= count;
  }
  return counts;
}

}  // namespace buoy::decode
