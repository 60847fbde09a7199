#include "buoy/figure/layout/visible_text.h"

#include <cstdint>

#include "buoy/base/utf8.h"

namespace buoy::figure {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kOpenBox = "\xE2\x90\xA3";

std::uint32_t code_point(std::string_view character) {
  const auto lead = static_cast<std::uint8_t>(character[0]);
  if (character.size() == 1) return lead;
  std::uint32_t code = lead & (0x7Fu >> character.size());
  for (const char next : character.substr(1)) code = code << 6 | (static_cast<std::uint8_t>(next) & 0x3Fu);
  return code;
}

bool is_unseen(std::uint32_t code) {
  return (code >= 0x80 && code <= 0x9F) || code == 0xAD || code == 0x61C ||  // C1 controls, soft hyphen
         (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF || (code & 0xFFFE) == 0xFFFE ||
         (code >= 0xFDD0 && code <= 0xFDEF) || (code >= 0xE0000 && code <= 0xE007F);
}

void append_visible(std::string& text, std::string_view character) {
  const std::uint32_t code = code_point(character);
  if (code == '\n') {
    text += "\xE2\x8F\x8E";  // U+23CE
  } else if (code == '\t') {
    text += "\xE2\x87\xA5";  // U+21E5
  } else if (code < 0x20) {
    text += {'\xE2', '\x90', static_cast<char>(0x80 + code)};  // U+2400 + code
  } else if (code == 0x7F) {
    text += "\xE2\x90\xA1";  // U+2421
  } else {
    text += is_unseen(code) ? kReplacement : character;
  }
}

}  // namespace

size_t character_size(std::string_view text, size_t at) {
  size_t size = 1;
  while (at + size < text.size() && (static_cast<std::uint8_t>(text[at + size]) & 0xC0) == 0x80) ++size;
  return size;
}

std::string visible_text(std::string_view bytes) {
  const std::string whole = replace_invalid_utf8(bytes);
  std::string text;
  for (size_t at = 0; at < whole.size();) {
    const size_t size = character_size(whole, at);
    append_visible(text, std::string_view(whole).substr(at, size));
    at += size;
  }
  return text;
}

std::string visible_token(std::string_view bytes) {
  std::string text = visible_text(bytes);
  if (text.size() > 1 && text[0] == ' ' && text[1] != ' ') text.erase(0, 1);
  const size_t first = text.find_first_not_of(' ');
  const size_t end = first == std::string::npos ? text.size() : text.find_last_not_of(' ') + 1;
  std::string token;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == ' ' && (at < first || at >= end)) {
      token += kOpenBox;
    } else {
      token += text[at];
    }
  }
  return token;
}

}  // namespace buoy::figure
