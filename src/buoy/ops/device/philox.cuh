#pragma once

#include <cstdint>

namespace buoy::ops {

// Philox4x32-10 and the numbers made of it, as in base/random.cc (docs/randomness.md): same words, same
// draws.
__device__ inline uint4 philox(std::uint64_t seed, uint4 c) {
  std::uint32_t key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53} * c.x,
                        product1 = std::uint64_t{0xCD9E8D57} * c.z;
    c = make_uint4(
        static_cast<std::uint32_t>(product1 >> 32) ^ c.y ^ key0, static_cast<std::uint32_t>(product1),
        static_cast<std::uint32_t>(product0 >> 32) ^ c.w ^ key1, static_cast<std::uint32_t>(product0));
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return c;
}

__device__ inline double unit_double(uint4 words) {
  return ((words.x >> 5) * 67108864.0 + (words.y >> 6)) * 0x1p-53;
}

}  // namespace buoy::ops
