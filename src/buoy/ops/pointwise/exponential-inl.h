// exp(x) for x <= 0, the only half a softmax needs.

#if defined(BUOY_OPS_EXPONENTIAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BUOY_OPS_EXPONENTIAL_INL_H_
#undef BUOY_OPS_EXPONENTIAL_INL_H_
#else
#define BUOY_OPS_EXPONENTIAL_INL_H_
#endif

#include <hwy/highway.h>

#include "buoy/ops/linear/dot_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace buoy::ops::HWY_NAMESPACE {

// Below this the result is 0: exp of it is 2.7e-38, next to the smallest normal number.
inline constexpr float kSmallestExponent = -86.5f;

// `x` at most 0, minus infinity and NaN included (both give 0); `clamped` is Max(x, kSmallestExponent). With
// n the integer next to x / ln 2 and r = x - n ln 2, |r| <= ln(2)/2: exp(x) = 2^n exp(r), and exp(r) is
// 1 + r + r^2 P(r) with P of degree 4 fitted for the least relative error (3.1e-9 before rounding; the tests
// find at most 1.1 units in the last place).
HWY_INLINE VF exp_nonpositive(VF x, VF clamped) {
  const F32 df;
  const hn::RebindToSigned<F32> di;
  // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits, from where it is shifted into the
  // exponent.
  const VF round = hn::Set(df, 12582912.0f);
  const VF shifted = hn::MulAdd(clamped, hn::Set(df, 1.44269504f), round);
  const VF n = hn::Sub(shifted, round);
  // ln 2 in two parts, the first with so few bits that n times it is exact.
  VF r = hn::NegMulAdd(n, hn::Set(df, 0.693359375f), clamped);
  r = hn::NegMulAdd(n, hn::Set(df, -2.12194440e-4f), r);
  VF p = hn::MulAdd(hn::Set(df, 0x1.6a23dp-10f), r, hn::Set(df, 0x1.123a2p-7f));
  p = hn::MulAdd(p, r, hn::Set(df, 0x1.5558f2p-5f));
  p = hn::MulAdd(p, r, hn::Set(df, 0x1.555492p-3f));
  p = hn::MulAdd(p, r, hn::Set(df, 0x1.fffffcp-2f));
  p = hn::MulAdd(hn::Mul(r, r), p, r);
  p = hn::Add(p, hn::Set(df, 1.0f));
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, shifted));
  const VF scaled = hn::BitCast(df, hn::Add(hn::BitCast(di, p), exponent));
  return hn::IfThenElseZero(hn::Ge(x, hn::Set(df, kSmallestExponent)), scaled);
}

HWY_INLINE VF clamp_exponent(VF x) {
  return hn::Max(x, hn::Set(F32(), kSmallestExponent));
}

}  // namespace buoy::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
