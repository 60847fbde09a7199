#include "buoy/tensor/float_range.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "buoy/tensor/float_range.cc"
#include <hwy/foreach_target.h>
// foreach_target must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace buoy::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

bool vectors_within(const float* values, size_t count, float least, float most) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const auto low = hn::Set(d, least), high = hn::Set(d, most);
  const auto within = [&](auto vector)
                          HWY_ATTR { return hn::And(hn::Ge(vector, low), hn::Le(vector, high)); };
  size_t i = 0;
  auto all = hn::Eq(low, low);
  for (; i + lanes <= count; i += lanes) all = hn::And(all, within(hn::LoadU(d, values + i)));
  bool so = hn::AllTrue(d, all);
  for (; i < count; ++i) so = so && values[i] >= least && values[i] <= most;
  return so;
}

}  // namespace buoy::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace buoy {

HWY_EXPORT(vectors_within);

bool all_within(std::span<const float> values, float least, float most) {
  return HWY_DYNAMIC_DISPATCH(vectors_within)(values.data(), values.size(), least, most);
}

}  // namespace buoy
#endif
