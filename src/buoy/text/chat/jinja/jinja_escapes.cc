#include "buoy/text/chat/jinja/jinja_escapes.h"

#include "buoy/text/code_points.h"

namespace buoy::text::jinja {
namespace {

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 16;
}

// Reads `digits` hexadecimal digits at `at`.
std::optional<char32_t> hexadecimal(std::string_view text, std::size_t at, std::size_t digits) {
  if (at + digits > text.size()) return std::nullopt;
  char32_t value = 0;
  for (std::size_t i = at; i < at + digits; ++i) {
    if (digit_value(text[i]) > 15) return std::nullopt;
    value = value << 4 | static_cast<char32_t>(digit_value(text[i]));
  }
  return value;
}

std::size_t octal_digits(std::string_view text, std::size_t at) {
  std::size_t count = 0;
  while (count < 3 && at + count < text.size() && digit_value(text[at + count]) < 8) ++count;
  return count;
}

std::optional<char> simple_escape(char c) {
  switch (c) {
    case '\\':
    case '\'':
    case '"':
      return c;
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<std::string> unescape(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '\\') {
      out += text[at++];
      continue;
    }
    const char kind = text[at + 1];  // a backslash never ends quoted text
    at += 2;
    if (kind == '\n') continue;
    if (const auto simple = simple_escape(kind)) {
      out += *simple;
      continue;
    }
    if (kind == 'N' || static_cast<unsigned char>(kind) >= 0x80) return std::nullopt;
    std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    char32_t value = 0;
    if (digits > 0) {
      const auto read = hexadecimal(text, at, digits);
      if (!read) return std::nullopt;
      value = *read;
    } else if (octal_digits(text, at - 1) > 0) {
      digits = octal_digits(text, at - 1) - 1;
      for (std::size_t i = at - 1; i < at + digits; ++i)
        value = value * 8 + static_cast<char32_t>(digit_value(text[i]));
    } else {  // stays as it is
      out += '\\';
      out += kind;
      continue;
    }
    if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) return std::nullopt;
    append_utf8(out, value);
    at += digits;
  }
  return out;
}

}  // namespace buoy::text::jinja
