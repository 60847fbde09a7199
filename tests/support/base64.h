#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace buoy::testing {

// The bytes of a text that to_base64() made.
inline std::vector<std::uint8_t> from_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint8_t> out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<std::uint32_t>(digits.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out.push_back(static_cast<std::uint8_t>(bits >> count & 255));
  }
  return out;
}

}  // namespace buoy::testing
