// Well-formed UTF-8 is Unicode's table 3-7; replacement is what Python's errors="replace" gives. Both
// columns of the table come from Python.

#include "buoy/base/utf8.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace buoy {
namespace {

struct Utf8Case {
  std::string_view bytes;
  size_t first_invalid;
  std::string_view replaced;  // a question mark stands for U+FFFD
};

// clang-format off
constexpr Utf8Case kCases[] = {
    {"", 0, ""},  // nothing
    {"plain", 5, "plain"},  // ASCII
    {"\xC3\xA9", 2, "\xC3\xA9"},  // two bytes
    {"\xE4\xB8\xAD", 3, "\xE4\xB8\xAD"},  // three bytes
    {"\xF0\x9F\x99\x82", 4, "\xF0\x9F\x99\x82"},  // four bytes
    {std::string_view("\x00", 1), 1, std::string_view("\x00", 1)},  // NUL is a character
    {"\x80", 0, "?"},  // lone continuation
    {"\xBF", 0, "?"},  // lone continuation
    {"\xC0\x80", 0, "??"},  // overlong NUL
    {"\xC1\xBF", 0, "??"},  // overlong U+007F
    {"\xC2\x80", 2, "\xC2\x80"},  // U+0080, the first of two
    {"\xDF\xBF", 2, "\xDF\xBF"},  // U+07FF, the last of two
    {"\xC2", 0, "?"},  // truncated
    {"\xC2" "A", 0, "?A"},  // cut by a letter
    {"\xC2\xC2\x80", 0, "?\xC2\x80"},  // cut by a lead
    {"\xE0\x9F\xBF", 0, "???"},  // overlong U+07FF
    {"\xE0\xA0\x80", 3, "\xE0\xA0\x80"},  // U+0800, the first of three
    {"\xE0\xA0", 0, "?"},  // truncated
    {"\xE0\xA0" "A", 0, "?A"},  // cut by a letter
    {"\xE0\x80\x80", 0, "???"},  // overlong NUL
    {"\xE1\x80", 0, "?"},  // truncated
    {"\xE1\x80\xE2", 0, "??"},  // cut by a lead
    {"\xED\x9F\xBF", 3, "\xED\x9F\xBF"},  // U+D7FF, before the surrogates
    {"\xED\xA0\x80", 0, "???"},  // U+D800
    {"\xED\xBF\xBF", 0, "???"},  // U+DFFF
    {"\xED\xA0\xBD\xED\xB9\x82", 0, "??????"},  // a surrogate pair
    {"\xEE\x80\x80", 3, "\xEE\x80\x80"},  // U+E000, after them
    {"\xEF\xBF\xBF", 3, "\xEF\xBF\xBF"},  // U+FFFF, the last of three
    {"\xF0\x8F\xBF\xBF", 0, "????"},  // overlong U+FFFF
    {"\xF0\x90\x80\x80", 4, "\xF0\x90\x80\x80"},  // U+10000, the first of four
    {"\xF0\x9F\x99", 0, "?"},  // truncated
    {"\xF0\x9F", 0, "?"},  // truncated
    {"\xF0", 0, "?"},  // truncated
    {"\xF0\x80\x80\x80", 0, "????"},  // overlong NUL
    {"\xF4\x8F\xBF\xBF", 4, "\xF4\x8F\xBF\xBF"},  // U+10FFFF, the last
    {"\xF4\x90\x80\x80", 0, "????"},  // U+110000
    {"\xF5\x80\x80\x80", 0, "????"},  // no such lead
    {"\xFF", 0, "?"},  // never in UTF-8
    {"\xFE\xFF", 0, "??"},  // UTF-16's mark
    {"\xF8\x88\x80\x80\x80", 0, "?????"},  // five bytes
    {"a\xF0\x9F\x99" "b", 1, "a?b"},  // in the middle
    {"\xF1\x80\x80\xE1\x80\xC2" "b\x80" "c\x80\xBF" "d", 0, "???b?c??d"},  // the Unicode standard's example
    {"caf\xE9", 3, "caf?"},  // Latin-1
    {"\xE4\xB8\xAD\xE4\xB8", 3, "\xE4\xB8\xAD?"},  // half a character at the end
};
// clang-format on

std::string with_replacement_characters(std::string_view shown) {
  std::string text;
  for (const char c : shown) text += c == '?' ? std::string("\xEF\xBF\xBD") : std::string(1, c);
  return text;
}

std::string in_hex(std::string_view bytes) {
  std::string text;
  for (const unsigned char c : bytes)
    text += std::string("0123456789abcdef").substr(c >> 4, 1) +
            std::string("0123456789abcdef").substr(c & 15, 1) + ' ';
  return text;
}

TEST(Utf8, FindsTheFirstInvalidByte) {
  for (const auto& test : kCases) {
    EXPECT_EQ(first_invalid_utf8(test.bytes), test.first_invalid) << in_hex(test.bytes);
  }
}

TEST(Utf8, ReplacesAsPythonDoes) {
  for (const auto& test : kCases) {
    EXPECT_EQ(replace_invalid_utf8(test.bytes), with_replacement_characters(test.replaced))
        << in_hex(test.bytes);
  }
}

TEST(Utf8, ReplacementIsAlwaysWellFormedAndLeavesWellFormedTextAlone) {
  for (const auto& test : kCases) {
    const std::string text = replace_invalid_utf8(test.bytes);
    EXPECT_EQ(first_invalid_utf8(text), text.size()) << in_hex(test.bytes);
    EXPECT_EQ(replace_invalid_utf8(text), text) << in_hex(test.bytes);
  }
}

// All strings of four of the bytes where table 3-7 changes its mind. The checksum is that of Python's
//   b"".join(s.decode(errors="replace").encode() for s in all_of_them)
TEST(Utf8, AgreesWithPythonOnEveryCombinationOfBoundaryBytes) {
  constexpr std::string_view kBoundaries(
      "\x00\x41\x7F\x80\x8F\x90\x9F\xA0\xBF\xC0\xC1\xC2\xDF\xE0\xE1\xEC\xED\xEE\xEF\xF0\xF1\xF3\xF4\xF5\xFF",
      25);
  uLong checksum = 0;
  int invalid = 0;
  for (const char a : kBoundaries) {
    for (const char b : kBoundaries) {
      for (const char c : kBoundaries) {
        for (const char d : kBoundaries) {
          const std::string bytes{a, b, c, d};
          const std::string text = replace_invalid_utf8(bytes);
          checksum =
              crc32(checksum, reinterpret_cast<const Bytef*>(text.data()), static_cast<uInt>(text.size()));
          invalid += first_invalid_utf8(bytes) < bytes.size();
        }
      }
    }
  }
  EXPECT_EQ(invalid, 388348);
  EXPECT_EQ(checksum, 0x44843671u);
}

}  // namespace
}  // namespace buoy
