// Scores of a few queries against a panel of keys, lanes over keys: score = q0 k0 + q1 k1 + ..., summed in
// this order with fused multiply-adds, whatever is computed beside it. No lanes are added up at the end,
// which is what makes short heads cheap.

#if defined(BUOY_OPS_SCORE_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BUOY_OPS_SCORE_KERNEL_INL_H_
#undef BUOY_OPS_SCORE_KERNEL_INL_H_
#else
#define BUOY_OPS_SCORE_KERNEL_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "buoy/ops/linear/dot_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace buoy::ops::HWY_NAMESPACE {

// Queries of one tile, and vectors of keys of one panel: accumulators, one row of keys and one query must fit
// the registers.
inline constexpr size_t kScoreRows = 6;
#if HWY_ARCH_X86 && HWY_TARGET >= HWY_AVX2
inline constexpr size_t kScoreVectors = 2;
#else
inline constexpr size_t kScoreVectors = 4;
#endif

HWY_INLINE size_t score_panel_keys() {
  return kScoreVectors * lanes();
}

// Keys as [depth][score_panel_keys()], zeros past `count`.
HWY_INLINE void pack_score_keys(const float* keys, size_t stride, size_t count, size_t depth, float* panel) {
  const size_t width = score_panel_keys();
  for (size_t j = 0; j < count; ++j) {
    for (size_t k = 0; k < depth; ++k) panel[k * width + j] = keys[j * stride + k];
  }
  for (size_t j = count; j < width; ++j) {
    for (size_t k = 0; k < depth; ++k) panel[k * width + j] = 0.0f;
  }
}

// Queries as [depth][kScoreRows], times `scale`, zeros past `rows`.
HWY_INLINE void pack_score_queries(const float* queries, size_t stride, size_t rows, size_t depth,
                                   float scale, float* panel) {
  for (size_t r = 0; r < kScoreRows; ++r) {
    for (size_t k = 0; k < depth; ++k)
      panel[k * kScoreRows + r] = r < rows ? queries[r * stride + k] * scale : 0.0f;
  }
}

// out[r * stride + j] for the first kRows queries of a panel and all keys of a panel.
template <size_t kRows>
HWY_INLINE void score_tile(const float* HWY_RESTRICT q, const float* HWY_RESTRICT k, size_t depth,
                           float* HWY_RESTRICT out, size_t stride) {
  static_assert(kRows >= 1 && kRows <= kScoreRows && (kScoreVectors == 2 || kScoreVectors == 4));
  const F32 df;
  const size_t L = lanes();
  const VF zero = hn::Zero(df);
  VF c00 = zero, c01 = zero, c02 = zero, c03 = zero, c10 = zero, c11 = zero, c12 = zero, c13 = zero;
  VF c20 = zero, c21 = zero, c22 = zero, c23 = zero, c30 = zero, c31 = zero, c32 = zero, c33 = zero;
  VF c40 = zero, c41 = zero, c42 = zero, c43 = zero, c50 = zero, c51 = zero, c52 = zero, c53 = zero;
  for (size_t d = 0; d < depth; ++d, q += kScoreRows, k += kScoreVectors * L) {
    const VF k0 = hn::Load(df, k), k1 = hn::Load(df, k + L);
    const VF k2 = kScoreVectors > 2 ? hn::Load(df, k + 2 * L) : zero;
    const VF k3 = kScoreVectors > 2 ? hn::Load(df, k + 3 * L) : zero;
#define BUOY_QUERY(I)                        \
  if constexpr (kRows > I) {                 \
    const VF qi = hn::Set(df, q[I]);         \
    c##I##0 = hn::MulAdd(qi, k0, c##I##0);   \
    c##I##1 = hn::MulAdd(qi, k1, c##I##1);   \
    if constexpr (kScoreVectors > 2) {       \
      c##I##2 = hn::MulAdd(qi, k2, c##I##2); \
      c##I##3 = hn::MulAdd(qi, k3, c##I##3); \
    }                                        \
  }
    BUOY_QUERY(0)
    BUOY_QUERY(1)
    BUOY_QUERY(2)
    BUOY_QUERY(3)
    BUOY_QUERY(4)
    BUOY_QUERY(5)
#undef BUOY_QUERY
  }
#define BUOY_STORE(I)                       \
  if constexpr (kRows > I) {                \
    float* row = out + I * stride;          \
    hn::StoreU(c##I##0, df, row);           \
    hn::StoreU(c##I##1, df, row + L);       \
    if constexpr (kScoreVectors > 2) {      \
      hn::StoreU(c##I##2, df, row + 2 * L); \
      hn::StoreU(c##I##3, df, row + 3 * L); \
    }                                       \
  }
  BUOY_STORE(0)
  BUOY_STORE(1)
  BUOY_STORE(2)
  BUOY_STORE(3)
  BUOY_STORE(4)
  BUOY_STORE(5)
#undef BUOY_STORE
}

// The same for 1 <= rows <= kScoreRows.
HWY_INLINE void score_tile(size_t rows, const float* q, const float* k, size_t depth, float* out,
                           size_t stride) {
  switch (rows) {
    case 1:
      return score_tile<1>(q, k, depth, out, stride);
    case 2:
      return score_tile<2>(q, k, depth, out, stride);
    case 3:
      return score_tile<3>(q, k, depth, out, stride);
    case 4:
      return score_tile<4>(q, k, depth, out, stride);
    case 5:
      return score_tile<5>(q, k, depth, out, stride);
    default:
      return score_tile<kScoreRows>(q, k, depth, out, stride);
  }
}

}  // namespace buoy::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
