#include "buoy/stats/median.h"

#include <algorithm>
#include <array>
#include <bit>

#include "buoy/base/error.h"

namespace buoy::stats {
namespace {

constexpr int kBucketBits = 8;
constexpr size_t kFew = 24;  // that are sorted

}  // namespace

double MedianFinder::of(std::span<const double> values) {
  BUOY_CHECK(!values.empty());
  // The bits of doubles that are not negative are in their order.
  left_.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i) left_[i] = std::bit_cast<std::uint64_t>(values[i]) << 1 >> 1;
  const size_t count = left_.size();
  size_t upper = count / 2, lower = count % 2 == 1 ? upper : upper - 1;  // ranks among what is left
  while (left_.size() > kFew) {
    std::uint64_t first = left_[0], last = left_[0];
    for (const auto bits : left_) first = std::min(first, bits), last = std::max(last, bits);
    const std::uint64_t range = last - first;
    if (range == 0) break;
    const int shift = std::max(0, static_cast<int>(std::bit_width(range)) - kBucketBits);
    std::array<std::uint32_t, 1 << kBucketBits> sizes{};
    for (const auto bits : left_) ++sizes[(bits - first) >> shift];
    size_t below = 0, from = 0;
    while (below + sizes[from] <= lower) below += sizes[from++];
    size_t to = from, until = below + sizes[from];
    while (until <= upper) until += sizes[++to];
    if (until - below == left_.size()) break;  // they do not come apart
    std::erase_if(left_, [&](std::uint64_t bits) {
      const std::uint64_t bucket = (bits - first) >> shift;
      return bucket < from || bucket > to;
    });
    lower -= below;
    upper -= below;
  }
  std::sort(left_.begin(), left_.end());
  const auto high = std::bit_cast<double>(left_[upper]), low = std::bit_cast<double>(left_[lower]);
  return upper == lower ? high : (high + low) / 2;
}

}  // namespace buoy::stats
