#include "buoy/base/random.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace buoy {
namespace {

double to_unit(std::uint32_t high, std::uint32_t low) {
  return ((high >> 5) * 67108864.0 + (low >> 6)) * 0x1p-53;
}

std::array<std::uint32_t, 4> words(std::uint64_t seed, const DrawAddress& address) {
  return philox(seed,
                {address.index, address.position, address.step, static_cast<std::uint32_t>(address.stream)});
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::uint64_t seed, const std::array<std::uint32_t, 4>& counter) {
  std::uint32_t key0 = static_cast<std::uint32_t>(seed);
  std::uint32_t key1 = static_cast<std::uint32_t>(seed >> 32);
  auto c = counter;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53} * c[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(product1 >> 32) ^ c[1] ^ key0, static_cast<std::uint32_t>(product1),
         static_cast<std::uint32_t>(product0 >> 32) ^ c[3] ^ key1, static_cast<std::uint32_t>(product0)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return c;
}

double uniform(std::uint64_t seed, const DrawAddress& address) {
  const auto x = words(seed, address);
  return to_unit(x[0], x[1]);
}

double gumbel(double u) {
  return u == 0.0 ? -std::numeric_limits<double>::infinity() : -std::log(-std::log(u));
}

double normal(std::uint64_t seed, const DrawAddress& address) {
  const auto x = words(seed, address);
  const double radius = std::sqrt(-2.0 * std::log(1.0 - to_unit(x[0], x[1])));
  return radius * std::cos(2.0 * std::numbers::pi * to_unit(x[2], x[3]));
}

}  // namespace buoy
