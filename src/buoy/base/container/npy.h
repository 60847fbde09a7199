#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace buoy {

struct NpyArray {
  std::vector<std::int64_t> shape;
  std::vector<float> values;  // row by row
};

// An array that numpy.save wrote: numbers of 4 or 8 bytes, little-endian, in C order. InputErrors name
// `where`.
NpyArray parse_npy(std::span<const std::byte> bytes, const std::string& where);
NpyArray read_npy(const std::filesystem::path& path);

}  // namespace buoy
