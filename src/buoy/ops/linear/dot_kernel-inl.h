// The one matrix-product kernel of the CPU backend, compiled once per instruction set by Highway.
//
// Every output is a dot product computed the same way whatever is computed beside it: lane i of one
// accumulator sums the products k = i, i + L, i + 2L, ... in order (L lanes), then the lanes are added.
// How many rows a tile has, which thread ran it and how rows were packed cannot change a bit of any
// output. docs/decisions/0001-row-invariant-products.md says why that matters.

#if defined(BUOY_OPS_DOT_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef BUOY_OPS_DOT_KERNEL_INL_H_
#undef BUOY_OPS_DOT_KERNEL_INL_H_
#else
#define BUOY_OPS_DOT_KERNEL_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "buoy/tensor/weight.h"

HWY_BEFORE_NAMESPACE();
namespace buoy::ops::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using F32 = hn::ScalableTag<float>;
using VF = hn::Vec<F32>;

// Accumulators, one row of operands and one more vector must fit the registers: 32 on NEON and AVX-512,
// 16 on AVX2 and SSE.
#if HWY_ARCH_X86 && HWY_TARGET >= HWY_AVX2
inline constexpr size_t kTileRows = 3;
inline constexpr size_t kTileColumns = 4;
#else
inline constexpr size_t kTileRows = 4;
inline constexpr size_t kTileColumns = 6;
#endif

HWY_INLINE size_t lanes() {
  return hn::Lanes(F32());
}
HWY_INLINE size_t round_up(size_t n, size_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

// A panel interleaves `width` rows: [depth / L][width][L], zero-filled past `rows` and past `depth`.
HWY_INLINE size_t panel_size(size_t width, size_t depth) {
  return width * round_up(depth, lanes());
}

// The next L numbers of a stored row, as float.
template <typename Stored>
HWY_INLINE VF load_stored(const Stored* from);

template <>
HWY_INLINE VF load_stored<float>(const float* from) {
  return hn::LoadU(F32(), from);
}

struct Bf16 {
  std::uint16_t bits;
};

template <>
HWY_INLINE VF load_stored<Bf16>(const Bf16* from) {
  const hn::RebindToUnsigned<F32> du32;
  const hn::Rebind<std::uint16_t, F32> du16;
  const auto wide = hn::PromoteTo(du32, hn::LoadU(du16, &from->bits));
  return hn::BitCast(F32(), hn::ShiftLeft<16>(wide));
}

template <>
HWY_INLINE VF load_stored<hwy::float16_t>(const hwy::float16_t* from) {
  const hn::Rebind<hwy::float16_t, F32> df16;
  return hn::PromoteTo(F32(), hn::LoadU(df16, from));
}

// Packs `rows` <= width rows of `depth` stored numbers, `stride` apart.
template <typename Stored>
HWY_INLINE void pack_panel(const Stored* from, size_t stride, size_t rows, size_t width, size_t depth,
                           float* HWY_RESTRICT panel) {
  const F32 df;
  const size_t L = lanes();
  const size_t whole = depth / L * L;
  for (size_t r = 0; r < rows; ++r) {
    const Stored* row = from + r * stride;
    float* out = panel + r * L;
    for (size_t k = 0; k < whole; k += L, out += width * L) hn::StoreU(load_stored(row + k), df, out);
    if (whole < depth) {
      Stored tail[HWY_MAX_BYTES / 4] = {};
      for (size_t k = whole; k < depth; ++k) tail[k - whole] = row[k];
      hn::StoreU(load_stored(tail), df, out);
    }
  }
  for (size_t r = rows; r < width; ++r) {
    float* out = panel + r * L;
    for (size_t k = 0; k < depth; k += L, out += width * L) hn::StoreU(hn::Zero(df), df, out);
  }
}

// out[r * stride + c] = a_r . b_c for a panel of kRows and one of kTileColumns, `depth` deep.
template <size_t kRows>
HWY_INLINE void dot_tile(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, size_t depth,
                         float* HWY_RESTRICT out, size_t stride) {
  static_assert(kRows >= 1 && kRows <= 4 && (kTileColumns == 4 || kTileColumns == 6));
  const F32 df;
  const size_t L = lanes();
  // Named accumulators: arrays of vectors are not allowed for scalable instruction sets.
  const VF zero = hn::Zero(df);
  VF c00 = zero, c01 = zero, c02 = zero, c03 = zero, c04 = zero, c05 = zero;
  VF c10 = zero, c11 = zero, c12 = zero, c13 = zero, c14 = zero, c15 = zero;
  VF c20 = zero, c21 = zero, c22 = zero, c23 = zero, c24 = zero, c25 = zero;
  VF c30 = zero, c31 = zero, c32 = zero, c33 = zero, c34 = zero, c35 = zero;
  for (size_t k = 0; k < depth; k += L, a += kTileRows * L, b += kTileColumns * L) {
    const VF a0 = hn::Load(df, a);
    const VF a1 = kRows > 1 ? hn::Load(df, a + 1 * L) : zero;
    const VF a2 = kRows > 2 ? hn::Load(df, a + 2 * L) : zero;
    const VF a3 = kRows > 3 ? hn::Load(df, a + 3 * L) : zero;
#define BUOY_COLUMN(J)                                          \
  {                                                             \
    const VF bj = hn::Load(df, b + J * L);                      \
    c0##J = hn::MulAdd(a0, bj, c0##J);                          \
    if constexpr (kRows > 1) c1##J = hn::MulAdd(a1, bj, c1##J); \
    if constexpr (kRows > 2) c2##J = hn::MulAdd(a2, bj, c2##J); \
    if constexpr (kRows > 3) c3##J = hn::MulAdd(a3, bj, c3##J); \
  }
    BUOY_COLUMN(0)
    BUOY_COLUMN(1)
    BUOY_COLUMN(2)
    BUOY_COLUMN(3)
    if constexpr (kTileColumns > 4) {
      BUOY_COLUMN(4)
      BUOY_COLUMN(5)
    }
#undef BUOY_COLUMN
  }
#define BUOY_ROW(I)                                      \
  if constexpr (kRows > I) {                             \
    float* row = out + I * stride;                       \
    row[0] = hn::GetLane(hn::SumOfLanes(df, c##I##0));   \
    row[1] = hn::GetLane(hn::SumOfLanes(df, c##I##1));   \
    row[2] = hn::GetLane(hn::SumOfLanes(df, c##I##2));   \
    row[3] = hn::GetLane(hn::SumOfLanes(df, c##I##3));   \
    if constexpr (kTileColumns > 4) {                    \
      row[4] = hn::GetLane(hn::SumOfLanes(df, c##I##4)); \
      row[5] = hn::GetLane(hn::SumOfLanes(df, c##I##5)); \
    }                                                    \
  }
  BUOY_ROW(0)
  BUOY_ROW(1)
  BUOY_ROW(2)
  BUOY_ROW(3)
#undef BUOY_ROW
}

// The same for 1 <= rows <= kTileRows.
HWY_INLINE void dot_tile(size_t rows, const float* a, const float* b, size_t depth, float* out,
                         size_t stride) {
  switch (rows) {
    case 1:
      return dot_tile<1>(a, b, depth, out, stride);
    case 2:
      return dot_tile<2>(a, b, depth, out, stride);
    case 3:
      return dot_tile<3>(a, b, depth, out, stride);
    default:
      return dot_tile<kTileRows>(a, b, depth, out, stride);
  }
}

}  // namespace buoy::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
