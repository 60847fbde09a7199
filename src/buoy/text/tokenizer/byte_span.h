#pragma once

#include <cstdint>

namespace buoy::text {

struct ByteSpan {
  std::uint32_t begin;
  std::uint32_t end;

  friend bool operator==(const ByteSpan&, const ByteSpan&) = default;
};

}  // namespace buoy::text
