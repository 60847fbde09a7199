#include <gtest/gtest.h>

#include "buoy/base/utf8.h"
#include "buoy/figure/layout/text_measure.h"
#include "buoy/figure/layout/visible_text.h"
#include "figure/examples.h"

namespace buoy::figure {
namespace {

using namespace figure::testing;
using Words = std::vector<std::string>;

TEST(VisibleText, ShowsWhatHasNoShape) {
  EXPECT_EQ(visible_text("a\nb"), "a⏎b");
  EXPECT_EQ(visible_text("\t"), "⇥");
  EXPECT_EQ(visible_text(std::string("\0\r\x1b\x7f", 4)), "␀␍␛␡");
  EXPECT_EQ(visible_text("a\u200Bb\u202Ec\uFEFF"), "a\uFFFDb\uFFFDc\uFFFD");
  EXPECT_EQ(visible_text("é ∑ <&\"'>"), "é ∑ <&\"'>");
}

TEST(VisibleText, ReplacesBytesThatAreNoUtf8) {
  EXPECT_EQ(visible_text("a\xff"), "a\uFFFD");
  EXPECT_EQ(visible_text("\xe2\x82"), "\uFFFD");
  EXPECT_EQ(visible_text("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");
}

TEST(VisibleText, IsWholeUtf8WithoutControlsForEveryPairOfBytes) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const auto text = visible_text(std::string{static_cast<char>(first), static_cast<char>(second)});
      ASSERT_EQ(first_invalid_utf8(text), text.size());
      for (const char byte : text) ASSERT_TRUE(static_cast<unsigned char>(byte) >= 0x20 && byte != 0x7f);
      ASSERT_EQ(visible_text(text), text);
    }
  }
}

TEST(VisibleToken, DropsTheSpaceOfAWordAndShowsOthers) {
  EXPECT_EQ(visible_token(" the"), "the");
  EXPECT_EQ(visible_token("  the "), "␣␣the␣");
  EXPECT_EQ(visible_token(" "), "␣");
  EXPECT_EQ(visible_token("a b"), "a b");
  EXPECT_EQ(visible_token(""), "");
}

TEST(Shorten, KeepsWhatFitsAndMarksTheRest) {
  const FixedMeasure measure;  // 6 points a letter at size 10
  EXPECT_EQ(shorten(measure, {"abcdef", {10, false}, 36}), "abcdef");
  EXPECT_EQ(shorten(measure, {"abcdef", {10, false}, 35}), "abcd…");
  EXPECT_EQ(shorten(measure, {"ab cdef", {10, false}, 25}), "ab…");
  EXPECT_EQ(shorten(measure, {"äöüäöü", {10, false}, 24}), "äöü…");
  EXPECT_EQ(shorten(measure, {"abc", {10, false}, 0}), "…");
}

TEST(Wrap, BreaksAtSpacesAndCutsTheLastLine) {
  const FixedMeasure measure;
  EXPECT_EQ(wrap(measure, {"one two three", {10, false}, 48}, 3), (Words{"one two", "three"}));
  EXPECT_EQ(wrap(measure, {"one two three", {10, false}, 48}, 1), Words{"one two…"});
  EXPECT_EQ(wrap(measure, {"enormously long", {10, false}, 30}, 2), (Words{"enor…", "long"}));
  EXPECT_EQ(wrap(measure, {"  spaces   between ", {10, false}, 200}, 2), Words{"spaces between"});
  EXPECT_TRUE(wrap(measure, {"", {10, false}, 48}, 3).empty());
  EXPECT_TRUE(wrap(measure, {"   ", {10, false}, 48}, 3).empty());
}

}  // namespace
}  // namespace buoy::figure
