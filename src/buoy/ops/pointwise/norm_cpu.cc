#include "buoy/ops/pointwise/norm_cpu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "buoy/ops/pointwise/norm_cpu.cc"
#include <hwy/foreach_target.h>
// foreach_target must come first.
#include <hwy/highway.h>

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace buoy::ops::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void rms_norm_rows(const NormArgs& args, std::int64_t first, std::int64_t end) {
  const hn::ScalableTag<float> df;
  const size_t L = hn::Lanes(df);
  const size_t width = static_cast<size_t>(args.width);
  const size_t whole = width / L * L;
  for (std::int64_t r = first; r < end; ++r) {
    const float* x = args.input + r * args.width;
    float* y = args.output + r * args.width;
    auto squares = hn::Zero(df);
    for (size_t i = 0; i < whole; i += L) {
      const auto v = hn::LoadU(df, x + i);
      squares = hn::MulAdd(v, v, squares);
    }
    double sum = hn::GetLane(hn::SumOfLanes(df, squares));
    if (!std::isfinite(sum)) {  // squares beyond a float's range: a scale of 0 would turn the row into zeros
      sum = 0;
      for (size_t i = 0; i < whole; ++i) sum += double{x[i]} * x[i];
    }
    for (size_t i = whole; i < width; ++i) sum += double{x[i]} * x[i];
    const float scale = static_cast<float>(1.0 / std::sqrt(sum / static_cast<double>(width) + args.eps));
    const auto scales = hn::Set(df, scale);
    for (size_t i = 0; i < whole; i += L) {
      const auto normal = hn::Mul(hn::LoadU(df, x + i), scales);
      hn::StoreU(hn::Mul(normal, hn::LoadU(df, args.weight + i)), df, y + i);
    }
    for (size_t i = whole; i < width; ++i) y[i] = x[i] * scale * args.weight[i];
  }
}

}  // namespace buoy::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace buoy::ops {

HWY_EXPORT(rms_norm_rows);

void rms_norm_rows_cpu(const NormArgs& args, std::int64_t first, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(rms_norm_rows)(args, first, end);
}

}  // namespace buoy::ops
#endif
