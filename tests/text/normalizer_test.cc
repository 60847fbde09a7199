#include "buoy/text/tokenizer/steps/nfc.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <cstdlib>
#include <random>

#include "buoy/text/code_points.h"
#include "text/support.h"

namespace buoy::text {
namespace {

std::string nfc_by_utf8proc(const std::string& text) {
  utf8proc_uint8_t* result = nullptr;
  const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                   static_cast<utf8proc_ssize_t>(text.size()), &result,
                                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  EXPECT_GE(length, 0);
  std::string composed(reinterpret_cast<const char*>(result), static_cast<size_t>(length));
  std::free(result);
  return composed;
}

std::string nfc(const std::string& text) {
  const auto result = to_nfc(text);
  return result ? result->text : text;
}

TEST(Normalizer, AgreesWithUtf8procOnRandomText) {
  std::mt19937 random(11);
  for (int i = 0; i < 20000; ++i) {
    const std::string text = random_text(random, 1 + random() % 24);
    ASSERT_EQ(nfc(text), nfc_by_utf8proc(text)) << text;
  }
}

TEST(Normalizer, AgreesWithUtf8procOnEveryCharacterAfterALetterAndBeforeMarks) {
  for (char32_t value = 1; value <= 0x10FFFF; ++value) {
    if (value >= 0xD800 && value <= 0xDFFF) continue;
    if (value > 0x32000 && value < 0xE0000) value = 0xE0000;  // unassigned or private
    if (value > 0xE0200) break;
    std::string text;
    for (const char32_t point :
         {U'e', value, char32_t{0x323}, char32_t{0x301}, value, char32_t{0x1161}, value}) {
      append_utf8(text, point);
    }
    ASSERT_EQ(nfc(text), nfc_by_utf8proc(text)) << "U+" << std::hex << static_cast<unsigned>(value);
  }
}

TEST(Normalizer, KeepsTheJamoBeforeTheFirstFinalConsonant) {
  EXPECT_EQ(nfc("\uC154\u11A8"), "\uC155");
  EXPECT_EQ(nfc("\uC154\u11A7"), "\uC154\u11A7");
  EXPECT_EQ(nfc("\u1109\u1167\u11A7"), "\uC154\u11A7");
}

TEST(Normalizer, LeavesNormalTextAlone) {
  EXPECT_FALSE(to_nfc(""));
  EXPECT_FALSE(to_nfc("plain text"));
  EXPECT_FALSE(to_nfc("caf\u00E9 \u4E2D\u6587 \U0001F642"));
}

TEST(Normalizer, AlignsChangesWithTheOriginal) {
  const std::string text = "x cafe\u0301 A\u030A.";  // e + 2 bytes, A + 2 bytes
  const auto result = to_nfc(text);
  ASSERT_TRUE(result);
  ASSERT_EQ(result->text, "x caf\u00E9 \u00C5.");
  const Alignment& alignment = result->alignment;
  EXPECT_EQ(alignment.original({0, 5}), (ByteSpan{0, 5}));
  EXPECT_EQ(alignment.original({5, 7}), (ByteSpan{5, 8}));
  EXPECT_EQ(alignment.original({5, 6}), (ByteSpan{5, 8}));
  EXPECT_EQ(alignment.original({6, 7}), (ByteSpan{5, 8}));
  EXPECT_EQ(alignment.original({7, 8}), (ByteSpan{8, 9}));
  EXPECT_EQ(alignment.original({8, 10}), (ByteSpan{9, 12}));
  EXPECT_EQ(alignment.original({10, 11}), (ByteSpan{12, 13}));
  EXPECT_EQ(alignment.original({0, 11}), (ByteSpan{0, 13}));
}

TEST(Normalizer, KeepsWhatDoesNotChangeInsideASegmentAligned) {
  const std::string text = "q\u0323\u0301\u0323";  // only the marks change order
  const auto result = to_nfc(text);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->alignment.original({0, 1}), (ByteSpan{0, 1}));
  EXPECT_EQ(result->alignment.original({0, 3}), (ByteSpan{0, 3}));
  EXPECT_EQ(result->alignment.original({3, 5}), (ByteSpan{3, 7}));
}

TEST(Normalizer, AlignmentOfRandomTextCoversItInOrder) {
  std::mt19937 random(12);
  for (int i = 0; i < 5000; ++i) {
    const std::string text = random_text(random, 1 + random() % 24);
    const auto result = to_nfc(text);
    if (!result) continue;
    ByteSpan last{0, 0};
    for (std::uint32_t begin = 0; begin < result->text.size(); ++begin) {
      const ByteSpan span = result->alignment.original({begin, begin + 1});
      ASSERT_LE(last.begin, span.begin);
      ASSERT_LE(last.end, span.end);
      ASSERT_LE(span.begin, last.end);
      ASSERT_LT(span.begin, span.end);
      last = span;
    }
    ASSERT_EQ(last.end, text.size());
  }
}

}  // namespace
}  // namespace buoy::text
