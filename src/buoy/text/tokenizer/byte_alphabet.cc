#include "buoy/text/tokenizer/byte_alphabet.h"

#include <array>
#include <cstdint>

#include "buoy/text/code_points.h"

namespace buoy::text {
namespace {

constexpr int kCharacters = 0x100 + 68;

constexpr bool stands_for_itself(int byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

struct Table {
  std::array<char32_t, 256> character{};
  std::array<std::int16_t, kCharacters> byte{};

  constexpr Table() {
    byte.fill(-1);
    char32_t next = 0x100;
    for (int b = 0; b < 256; ++b) {
      character[b] = stands_for_itself(b) ? static_cast<char32_t>(b) : next++;
      byte[character[b]] = static_cast<std::int16_t>(b);
    }
  }
};

constexpr Table kTable;

}  // namespace

std::string spell_bytes(std::string_view bytes) {
  std::string spelling;
  for (const char c : bytes) append_utf8(spelling, kTable.character[static_cast<unsigned char>(c)]);
  return spelling;
}

std::optional<std::string> bytes_of_spelling(std::string_view spelling) {
  std::string bytes;
  bytes.reserve(spelling.size());
  for (size_t at = 0; at < spelling.size();) {
    const CodePoint point = code_point_at(spelling, at);
    if (point.value >= kCharacters || kTable.byte[point.value] < 0) return std::nullopt;
    bytes += static_cast<char>(kTable.byte[point.value]);
    at += point.length;
  }
  return bytes;
}

}  // namespace buoy::text
