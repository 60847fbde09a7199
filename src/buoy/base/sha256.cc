#include "buoy/base/sha256.h"

#include <algorithm>
#include <cstring>

#include "buoy/base/file/mapped_file.h"

namespace buoy {

void Sha256::update(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const size_t held = size_ % 64;
  size_ += bytes.size();
  if (held > 0) {
    const size_t taken = std::min(64 - held, bytes.size());
    std::memcpy(pending_.data() + held, bytes.data(), taken);
    bytes = bytes.subspan(taken);
    if (held + taken < 64) return;
    sha256_blocks()(state_, pending_.data(), 1);
  }
  sha256_blocks()(state_, bytes.data(), bytes.size() / 64);
  bytes = bytes.subspan(bytes.size() / 64 * 64);
  if (!bytes.empty()) std::memcpy(pending_.data(), bytes.data(), bytes.size());
}

Sha256Digest Sha256::digest() const {
  Sha256 last = *this;
  // 0x80, zeros up to 8 bytes before the end of a block, the length in bits.
  std::array<std::byte, 72> padding{};
  padding[0] = std::byte{0x80};
  const size_t zeros_end = size_ % 64 < 56 ? 56 - size_ % 64 : 120 - size_ % 64;
  for (size_t i = 0; i < 8; ++i) {
    padding[zeros_end + i] = static_cast<std::byte>((size_ * 8) >> (56 - 8 * i));
  }
  last.update(std::span(padding).first(zeros_end + 8));
  Sha256Digest digest;
  for (size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::byte>(last.state_[i / 4] >> (24 - 8 * (i % 4)));
  }
  return digest;
}

std::string Sha256::hex() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : digest()) {
    text += kDigits[std::to_integer<size_t>(byte >> 4)];
    text += kDigits[std::to_integer<size_t>(byte & std::byte{15})];
  }
  return text;
}

Sha256Digest sha256(std::span<const std::byte> bytes) {
  Sha256 sum;
  sum.update(bytes);
  return sum.digest();
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256 sum;
  sum.update(bytes);
  return sum.hex();
}

std::string sha256_hex(std::string_view bytes) {
  return sha256_hex(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

std::string sha256_of_file(const std::filesystem::path& path) {
  return sha256_hex(MappedFile(path).bytes());
}

bool is_sha256_hex(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace buoy
