#include "buoy/base/utf8.h"

namespace buoy {
namespace {

struct Scan {
  size_t length;  // bytes of the character, or of the maximal ill-formed subpart
  bool valid;
};

// Unicode 15, table 3-7: the allowed range of the second byte depends on the first.
Scan scan_character(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, true};
  size_t length = 0;
  unsigned char low = 0x80, high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return {1, false};
  }
  for (size_t i = 1; i < length; ++i) {
    if (i >= text.size() || byte(i) < low || byte(i) > high) return {i, false};
    low = 0x80;
    high = 0xBF;
  }
  return {length, true};
}

}  // namespace

size_t first_invalid_utf8(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const Scan scan = scan_character(text.substr(at));
    if (!scan.valid) return at;
    at += scan.length;
  }
  return text.size();
}

std::string replace_invalid_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  size_t at = 0;
  while (at < bytes.size()) {
    const Scan scan = scan_character(bytes.substr(at));
    text += scan.valid ? bytes.substr(at, scan.length) : std::string_view("\xEF\xBF\xBD");
    at += scan.length;
  }
  return text;
}

std::u32string decode_utf8(std::string_view text) {
  std::u32string characters;
  for (size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    char32_t character = length == 1 ? lead : lead & (0x7Fu >> length);
    for (size_t i = 1; i < length && at + i < text.size(); ++i)
      character = character << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3Fu);
    characters += character;
    at += length;
  }
  return characters;
}

}  // namespace buoy
