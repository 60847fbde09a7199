#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace buoy {

// Bytes of a binary format, put together field by field.
class LittleEndian {
 public:
  LittleEndian& u8(std::uint64_t value) { return put(value, 1); }
  LittleEndian& u16(std::uint64_t value) { return put(value, 2); }
  LittleEndian& u32(std::uint64_t value) { return put(value, 4); }
  LittleEndian& u64(std::uint64_t value) { return put(value, 8); }
  LittleEndian& text(std::string_view value) {
    bytes_ += value;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  LittleEndian& put(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes_ += static_cast<char>(value >> (8 * i));
    return *this;
  }
  std::string bytes_;
};

}  // namespace buoy
