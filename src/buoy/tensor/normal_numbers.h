#pragma once

#include <cstdint>
#include <span>

namespace buoy {

// Normal numbers, many and fast, in bf16: 64 random bits give four of them by looking 16 bits each up in a
// table of normal quantiles (none lies beyond 4.3 deviations). For weights; results use base/random.h.
class NormalNumbers {
 public:
  explicit NormalNumbers(std::uint64_t seed);

  void fill(std::span<std::uint16_t> out, double deviation);

 private:
  std::uint64_t next();

  std::uint64_t state_;
};

}  // namespace buoy
