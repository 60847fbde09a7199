#include "buoy/tensor/float16_spans.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "buoy/tensor/float16_spans.cc"
#include <hwy/foreach_target.h>
// foreach_target must come first.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "buoy/base/error.h"

HWY_BEFORE_NAMESPACE();
namespace buoy::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Integers = hn::RebindToSigned<Floats>;
using Halves = hn::Rebind<std::uint16_t, Floats>;

// Where the exponent of a float and that of the same number in F16 differ: by 127 - 15.
constexpr std::int32_t kRebias = 112 << 23;
constexpr std::int32_t kFloatInfinity = 0x7F800000;

// Integer arithmetic throughout, so that every target gives the same bits: conversions in hardware keep the
// payload of a NaN, and those that Highway emulates need not round as they do.
template <class V>
HWY_INLINE hn::Vec<Halves> to_halves(V value, hn::Vec<Floats>& largest) {
  const Floats df;
  const Integers di;
  const auto bits = hn::BitCast(di, value);
  const auto magnitude = hn::And(bits, hn::Set(di, 0x7FFFFFFF));
  const auto is_finite = hn::Lt(magnitude, hn::Set(di, kFloatInfinity));
  largest = hn::Max(largest, hn::BitCast(df, hn::IfThenElseZero(is_finite, magnitude)));

  // Normal: half a unit in the last place is added, one less where the last bit is even; a carry out of the
  // fraction is the next exponent. Past the largest number that gives infinity or more.
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(di, 1));
  const auto rounded = hn::Add(hn::Add(magnitude, hn::Set(di, 0xFFF - kRebias)), odd);
  auto half = hn::Min(hn::ShiftRight<13>(rounded), hn::Set(di, 0x7C00));

  // Below 2^-14, multiples of 2^-24: the unit of floats from 0.5 on, so adding 0.5 rounds to them.
  const auto shifted = hn::Add(hn::BitCast(df, magnitude), hn::Set(df, 0.5f));
  const auto subnormal = hn::Sub(hn::BitCast(di, shifted), hn::Set(di, 0x3F000000));
  half = hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, 0x38800000)), subnormal, half);

  half = hn::IfThenElse(hn::Gt(magnitude, hn::Set(di, kFloatInfinity)), hn::Set(di, 0x7E00), half);
  const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(di, 0x8000));
  return hn::DemoteTo(Halves(), hn::Or(half, sign));
}

HWY_INLINE hn::Vec<Floats> from_halves(hn::Vec<Halves> half) {
  const Floats df;
  const Integers di;
  const auto bits = hn::PromoteTo(di, half);
  const auto magnitude = hn::And(bits, hn::Set(di, 0x7FFF));
  const auto rebias = hn::Set(di, kRebias);
  auto wide = hn::Add(hn::ShiftLeft<13>(magnitude), rebias);
  const auto is_open = hn::Gt(magnitude, hn::Set(di, 0x7BFF));  // infinity or NaN
  wide = hn::Add(wide, hn::IfThenElseZero(is_open, rebias));
  const auto subnormal = hn::Mul(hn::ConvertTo(df, magnitude), hn::Set(df, 0x1p-24f));
  wide = hn::IfThenElse(hn::Lt(magnitude, hn::Set(di, 0x400)), hn::BitCast(di, subnormal), wide);
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(di, 0x8000)));
  return hn::BitCast(df, hn::Or(wide, sign));
}

bool floats_to_f16_vectors(const float* from, std::uint16_t* to, size_t count) {
  const Floats df;
  const size_t L = hn::Lanes(df);
  auto largest = hn::Zero(df);
  size_t i = 0;
  for (; i + L <= count; i += L) {
    hn::StoreU(to_halves(hn::LoadU(df, from + i), largest), Halves(), to + i);
  }
  if (i < count) {
    float tail[HWY_MAX_BYTES / 4] = {};
    std::uint16_t halves[HWY_MAX_BYTES / 4];
    std::memcpy(tail, from + i, (count - i) * sizeof(float));
    hn::StoreU(to_halves(hn::LoadU(df, tail), largest), Halves(), halves);
    std::memcpy(to + i, halves, (count - i) * sizeof(std::uint16_t));
  }
  constexpr float kMost = 65504.0f;
  return !hn::AllFalse(df, hn::Gt(largest, hn::Set(df, kMost)));
}

void f16_to_floats_vectors(const std::uint16_t* from, float* to, size_t count) {
  const Floats df;
  const Halves dh;
  const size_t L = hn::Lanes(df);
  size_t i = 0;
  for (; i + L <= count; i += L) {
    hn::StoreU(from_halves(hn::LoadU(dh, from + i)), df, to + i);
  }
  if (i < count) {
    std::uint16_t halves[HWY_MAX_BYTES / 4] = {};
    float tail[HWY_MAX_BYTES / 4];
    std::memcpy(halves, from + i, (count - i) * sizeof(std::uint16_t));
    hn::StoreU(from_halves(hn::LoadU(dh, halves)), df, tail);
    std::memcpy(to + i, tail, (count - i) * sizeof(float));
  }
}

}  // namespace buoy::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace buoy {

HWY_EXPORT(floats_to_f16_vectors);
HWY_EXPORT(f16_to_floats_vectors);

bool floats_to_f16(std::span<const float> from, std::span<std::uint16_t> to) {
  BUOY_CHECK(from.size() == to.size());
  return HWY_DYNAMIC_DISPATCH(floats_to_f16_vectors)(from.data(), to.data(), from.size());
}

void f16_to_floats(std::span<const std::byte> from, std::span<float> to) {
  BUOY_CHECK(from.size() == 2 * to.size());
  const auto convert = HWY_DYNAMIC_DISPATCH(f16_to_floats_vectors);
  if (reinterpret_cast<std::uintptr_t>(from.data()) % alignof(std::uint16_t) == 0) {
    return convert(reinterpret_cast<const std::uint16_t*>(from.data()), to.data(), to.size());
  }
  std::array<std::uint16_t, 4096> aligned;
  while (!to.empty()) {
    const size_t count = std::min(aligned.size(), to.size());
    std::memcpy(aligned.data(), from.data(), 2 * count);
    convert(aligned.data(), to.data(), count);
    from = from.subspan(2 * count);
    to = to.subspan(count);
  }
}

}  // namespace buoy
#endif
