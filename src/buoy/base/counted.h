#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace buoy {

// "1 sample", "3 samples"; `many` where it is not the word with an s: counted(2, "entry", "entries").
inline std::string counted(std::uint64_t count, std::string_view one, std::string_view many = "") {
  if (count == 1) return fmt::format("1 {}", one);
  return many.empty() ? fmt::format("{} {}s", count, one) : fmt::format("{} {}", count, many);
}

}  // namespace buoy
