#include "buoy/figure/chart/color_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "buoy/base/error.h"

namespace buoy::figure {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Beyond this even the distance of two values overflows; they count as infinite.
bool is_drawable(double value) {
  return std::abs(value) <= 1e300;
}

// Of sorted values, between neighbours in proportion.
double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

void check(const ColorScale& scale) {
  if (!(scale.clip_low >= 0 && scale.clip_low < scale.clip_high && scale.clip_high <= 1)) {
    throw_usage_error({"colour scale: clip_low, clip_high", "0 <= clip_low < clip_high <= 1",
                       fmt::format("{} and {}", scale.clip_low, scale.clip_high)});
  }
  for (const auto& limit : {scale.low, scale.high, std::optional(scale.center)}) {
    if (limit && !is_drawable(*limit)) {
      throw_usage_error({"colour scale: limits", "finite numbers up to 1e300", fmt::format("{}", *limit)});
    }
  }
  if (scale.low && scale.high && !(*scale.low < *scale.high)) {
    throw_usage_error(
        {"colour scale: limits", "low < high", fmt::format("{} and {}", *scale.low, *scale.high)});
  }
  if (scale.kind == ScaleKind::kLog && (scale.low.value_or(1) <= 0 || scale.high.value_or(1) <= 0)) {
    throw_usage_error({"colour scale: limits of a log scale", "positive numbers",
                       fmt::format("{} and {}", scale.low.value_or(kNan), scale.high.value_or(kNan))});
  }
}

}  // namespace

ResolvedScale::ResolvedScale(ColorScale scale, std::span<const double> values) : scale_(std::move(scale)) {
  check(scale_);
  find_limits(values);
  widen_if_empty();
  for (const double value : values) {
    if (std::isnan(value)) continue;
    has_data_ = true;
    clips_low_ |= value < range_.low;
    clips_high_ |= value > range_.high;
  }
}

void ResolvedScale::find_limits(std::span<const double> values) {
  std::vector<double> known;
  for (const double value : values) {
    if (!is_drawable(value) || (scale_.kind == ScaleKind::kLog && value <= 0)) continue;
    known.push_back(scale_.kind == ScaleKind::kDiverging ? std::abs(value - scale_.center) : value);
  }
  std::sort(known.begin(), known.end());
  if (scale_.kind == ScaleKind::kDiverging) {
    double half = known.empty() ? 1 : quantile(known, scale_.clip_high);
    if (half == 0 && !known.empty()) half = known.back();
    if (scale_.low || scale_.high) {
      half = std::max(scale_.high.value_or(scale_.center) - scale_.center,
                      scale_.center - scale_.low.value_or(scale_.center));
    }
    range_ = {scale_.center - half, scale_.center + half};
    return;
  }
  if (known.empty()) {
    range_ = {scale_.kind == ScaleKind::kLog ? 0.1 : 0.0, 1.0};
  } else {
    range_ = {quantile(known, scale_.clip_low), quantile(known, scale_.clip_high)};
    // Clipping that leaves nothing (almost all values equal) is no help: show them all.
    if (!(range_.low < range_.high)) range_ = {known.front(), known.back()};
    // Zero is shown where it is near.
    const bool near_zero = range_.low > 0 && range_.low < 0.05 * range_.high;
    if (near_zero && scale_.kind == ScaleKind::kLinear && scale_.clip_low == 0) range_.low = 0;
  }
  range_.low = scale_.low.value_or(range_.low);
  range_.high = scale_.high.value_or(range_.high);
}

// All values equal, or all beyond the one limit that was given.
void ResolvedScale::widen_if_empty() {
  if (range_.low < range_.high) return;
  const double base = scale_.low ? *scale_.low : scale_.high ? *scale_.high : range_.low;
  if (scale_.kind == ScaleKind::kLog) {
    range_ = {scale_.low ? base : base / 2, scale_.high ? base : base * 2};
    return;
  }
  const auto margin = [](double value) { return value == 0 ? 1 : std::abs(value) * 0.1; };
  if (scale_.kind == ScaleKind::kDiverging) {
    range_ = {scale_.center - margin(scale_.center), scale_.center + margin(scale_.center)};
  } else {
    range_ = {scale_.low ? base : base - margin(base), scale_.high ? base : base + margin(base)};
  }
}

double ResolvedScale::position(double value) const {
  if (std::isnan(value)) return kNan;
  if (value <= range_.low) return 0;
  if (value >= range_.high) return 1;
  if (scale_.kind == ScaleKind::kLog)
    return std::log(value / range_.low) / std::log(range_.high / range_.low);
  return (value - range_.low) / (range_.high - range_.low);
}

Color ResolvedScale::color(double value) const {
  BUOY_CHECK(!std::isnan(value));
  return sample(scale_.map, position(value));
}

std::vector<Tick> ResolvedScale::ticks(int most) const {
  return scale_.kind == ScaleKind::kLog ? log_ticks(range_, most) : linear_ticks(range_, most);
}

}  // namespace buoy::figure
