#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "buoy/base/sha256_blocks.h"

namespace buoy {

using Sha256Digest = std::array<std::byte, 32>;

// SHA-256 (FIPS 180-4) of bytes that arrive in pieces.
class Sha256 {
 public:
  void update(std::span<const std::byte> bytes);
  // Of what came so far.
  Sha256Digest digest() const;
  std::string hex() const;  // 64 lower-case digits

 private:
  Sha256State state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> pending_{};  // the first size_ % 64 bytes count
  std::uint64_t size_ = 0;
};

Sha256Digest sha256(std::span<const std::byte> bytes);
std::string sha256_hex(std::span<const std::byte> bytes);
std::string sha256_hex(std::string_view bytes);
std::string sha256_of_file(const std::filesystem::path& path);

// Whether the text is what hex() returns.
bool is_sha256_hex(std::string_view text);

}  // namespace buoy
