#include "buoy/tensor/logarithms.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "buoy/tensor/logarithms.cc"
#include <hwy/foreach_target.h>
// foreach_target must come first.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "buoy/base/error.h"

HWY_BEFORE_NAMESPACE();
namespace buoy::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void logarithms_of(const double* values, size_t count, double* out) {
  const hn::ScalableTag<double> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::Log(d, hn::LoadU(d, values + i)), d, out + i);
  if (i == count) return;
  // The same instructions for the rest, so that a value's logarithm does not depend on its place.
  HWY_ALIGN double rest[HWY_MAX_BYTES / sizeof(double)];
  for (size_t k = 0; k < lanes; ++k) rest[k] = i + k < count ? values[i + k] : 1.0;
  hn::Store(hn::Log(d, hn::Load(d, rest)), d, rest);
  for (size_t k = 0; i + k < count; ++k) out[i + k] = rest[k];
}

}  // namespace buoy::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace buoy {

HWY_EXPORT(logarithms_of);

void logarithms(std::span<const double> values, std::span<double> out) {
  BUOY_CHECK(values.size() == out.size());
  HWY_DYNAMIC_DISPATCH(logarithms_of)(values.data(), values.size(), out.data());
}

}  // namespace buoy
#endif
