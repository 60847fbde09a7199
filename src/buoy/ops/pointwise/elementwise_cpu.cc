#include "buoy/ops/pointwise/elementwise_cpu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "buoy/ops/pointwise/elementwise_cpu.cc"
#include <hwy/foreach_target.h>
// foreach_target must come first.
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace buoy::ops::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// silu(g) * u = g * u / (1 + exp(-g)). The exponent stops at 88, just before float overflows: past it the
// true quotient is below |g| * 1e-38, and so is what is returned.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V swiglu_vector(D df, V gate, V up) {
  const V one = hn::Set(df, 1.0f);
  const V denominator = hn::Add(one, hn::Exp(df, hn::Min(hn::Neg(gate), hn::Set(df, 88.0f))));
  return hn::Mul(hn::Div(gate, denominator), up);
}

void swiglu_vectors(float* gate, const float* up, size_t count) {
  const hn::ScalableTag<float> df;
  const size_t L = hn::Lanes(df);
  size_t i = 0;
  for (; i + L <= count; i += L) {
    hn::StoreU(swiglu_vector(df, hn::LoadU(df, gate + i), hn::LoadU(df, up + i)), df, gate + i);
  }
  // The tail goes through the same vector code, so a number's result never depends on its place.
  if (i < count) {
    float gate_tail[HWY_MAX_BYTES / 4] = {};
    float up_tail[HWY_MAX_BYTES / 4] = {};
    for (size_t j = i; j < count; ++j) gate_tail[j - i] = gate[j], up_tail[j - i] = up[j];
    hn::StoreU(swiglu_vector(df, hn::LoadU(df, gate_tail), hn::LoadU(df, up_tail)), df, gate_tail);
    for (size_t j = i; j < count; ++j) gate[j] = gate_tail[j - i];
  }
}

bool all_finite_vectors(const float* values, size_t count) {
  const hn::ScalableTag<float> df;
  const size_t L = hn::Lanes(df);
  size_t i = 0;
  auto bad = hn::Zero(df);  // x * 0 is 0 for finite x, NaN otherwise
  for (; i + L <= count; i += L) bad = hn::Add(bad, hn::Mul(hn::LoadU(df, values + i), hn::Zero(df)));
  if (!std::isfinite(hn::GetLane(hn::SumOfLanes(df, bad)))) return false;
  for (; i < count; ++i) {
    if (!std::isfinite(values[i])) return false;
  }
  return true;
}

}  // namespace buoy::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace buoy::ops {

HWY_EXPORT(swiglu_vectors);
HWY_EXPORT(all_finite_vectors);

void swiglu_cpu(float* gate, const float* up, size_t count) {
  HWY_DYNAMIC_DISPATCH(swiglu_vectors)(gate, up, count);
}

bool all_finite_cpu(const float* values, size_t count) {
  return HWY_DYNAMIC_DISPATCH(all_finite_vectors)(values, count);
}

}  // namespace buoy::ops
#endif
