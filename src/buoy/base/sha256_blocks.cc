#include "buoy/base/sha256_blocks.h"

#include <bit>

#if defined(__aarch64__) && defined(__linux__) && (defined(__ARM_FEATURE_SHA2) || !defined(__clang__))
#define BUOY_SHA256_ARM
#include <arm_neon.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>
#elif defined(__x86_64__)
#define BUOY_SHA256_X86
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace buoy {
namespace {

alignas(16) constexpr std::array<std::uint32_t, 64> kRoundConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void take_block(Sha256State& state, const std::byte* block) {
  std::array<std::uint32_t, 64> w;
  for (size_t i = 0; i < 16; ++i) {
    w[i] = 0;
    for (size_t j = 0; j < 4; ++j) w[i] = w[i] << 8 | std::to_integer<std::uint32_t>(block[4 * i + j]);
  }
  for (size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) + w[i - 7] +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t i = 0; i < 64; ++i) {
    const std::uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                ((e & f) ^ (~e & g)) + kRoundConstants[i] + w[i];
    const std::uint32_t second =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const Sha256State change = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state[i] += change[i];
}

#ifdef BUOY_SHA256_ARM

// Four rounds at a time. w[i % 4] holds words 4i to 4i + 3 of the schedule and is replaced by those sixteen
// later as soon as it was used. Unrolled, or w would live in memory (1.6 times slower).
#ifndef __ARM_FEATURE_SHA2
__attribute__((target("+crypto")))
#endif
void take_blocks_arm(Sha256State& state, const std::byte* blocks, std::size_t count) {
  uint32x4_t abcd = vld1q_u32(state.data()), efgh = vld1q_u32(state.data() + 4);
  for (; count > 0; --count, blocks += 64) {
    const uint32x4_t abcd_before = abcd, efgh_before = efgh;
    uint32x4_t w[4];
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; ++i) {
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(blocks) + 16 * i;
      w[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(bytes)));
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < 16; ++i) {
      const uint32x4_t words = vaddq_u32(w[i % 4], vld1q_u32(kRoundConstants.data() + 4 * i));
      uint32x4_t abcd_now = abcd;
      asm("" : "+w"(abcd_now));  // the copy for the second instruction, off the path of the first
      abcd = vsha256hq_u32(abcd, efgh, words);
      efgh = vsha256h2q_u32(efgh, abcd_now, words);
      if (i < 12)
        w[i % 4] = vsha256su1q_u32(vsha256su0q_u32(w[i % 4], w[(i + 1) % 4]), w[(i + 2) % 4], w[(i + 3) % 4]);
    }
    abcd = vaddq_u32(abcd, abcd_before);
    efgh = vaddq_u32(efgh, efgh_before);
  }
  vst1q_u32(state.data(), abcd);
  vst1q_u32(state.data() + 4, efgh);
}

#endif
#ifdef BUOY_SHA256_X86

// The same; the instructions want the state as ABEF and CDGH.
__attribute__((target("sha,ssse3,sse4.1"))) void take_blocks_x86(Sha256State& state, const std::byte* blocks,
                                                                 std::size_t count) {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const __m128i cdab =
      _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(state.data())), 0xB1);
  const __m128i efgh =
      _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(state.data() + 4)), 0x1B);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xF0);
  for (; count > 0; --count, blocks += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];
    for (size_t i = 0; i < 4; ++i)
      w[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(blocks + 16 * i)), big_endian);
#pragma GCC unroll 16
    for (size_t i = 0; i < 16; ++i) {
      const __m128i words = _mm_add_epi32(
          w[i % 4], _mm_load_si128(reinterpret_cast<const __m128i*>(kRoundConstants.data() + 4 * i)));
      if (i < 12) {
        const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[i % 4], w[(i + 1) % 4]),
                                          _mm_alignr_epi8(w[(i + 3) % 4], w[(i + 2) % 4], 4));
        w[i % 4] = _mm_sha256msg2_epu32(sum, w[(i + 3) % 4]);
      }
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, words);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(words, 0x0E));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1B), dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data()), _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data() + 4), _mm_alignr_epi8(dchg, feba, 8));
}

bool x86_has_sha() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_SSE4_1) == 0 || (c & bit_SSSE3) == 0) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & (1u << 29)) != 0;
}

#endif

}  // namespace

void sha256_blocks_portable(Sha256State& state, const std::byte* blocks, std::size_t count) {
  for (; count > 0; --count, blocks += 64) take_block(state, blocks);
}

Sha256Blocks sha256_blocks_native() {
#if defined(BUOY_SHA256_ARM)
  if ((::getauxval(AT_HWCAP) & HWCAP_SHA2) != 0) return take_blocks_arm;
#elif defined(BUOY_SHA256_X86)
  if (x86_has_sha()) return take_blocks_x86;
#endif
  return nullptr;
}

Sha256Blocks sha256_blocks() {
  static const Sha256Blocks best =
      sha256_blocks_native() != nullptr ? sha256_blocks_native() : sha256_blocks_portable;
  return best;
}

}  // namespace buoy
