#include "buoy/text/tokenizer/literal_matcher.h"

#include <gtest/gtest.h>

namespace buoy::text {
namespace {

std::vector<std::pair<std::int32_t, ByteSpan>> find(const LiteralMatcher& matcher, std::string_view text) {
  std::vector<std::pair<std::int32_t, ByteSpan>> found;
  for (const auto& match : matcher.find_all(text)) found.emplace_back(match.id, match.span);
  return found;
}

using Found = std::vector<std::pair<std::int32_t, ByteSpan>>;

TEST(LiteralMatcher, TakesTheLeftmostThenTheLongest) {
  LiteralMatcher matcher;
  EXPECT_TRUE(matcher.add("<a>", 1));
  EXPECT_TRUE(matcher.add("<a><b>", 2));
  EXPECT_TRUE(matcher.add("b>c", 3));
  EXPECT_EQ(find(matcher, "x<a><b>c"), (Found{{2, {1, 7}}}));
  EXPECT_EQ(find(matcher, "<a><ab>c"), (Found{{1, {0, 3}}, {3, {5, 8}}}));
  EXPECT_EQ(find(matcher, "<a><a><b"), (Found{{1, {0, 3}}, {1, {3, 6}}}));
}

TEST(LiteralMatcher, ContinuesInsideAFailedMatch) {
  LiteralMatcher matcher;
  matcher.add("aab", 1);
  EXPECT_EQ(find(matcher, "aaab"), (Found{{1, {1, 4}}}));
  EXPECT_EQ(find(matcher, "aaa"), Found{});
}

TEST(LiteralMatcher, RefusesEmptyAndRepeatedLiterals) {
  LiteralMatcher matcher;
  EXPECT_FALSE(matcher.add("", 1));
  EXPECT_TRUE(matcher.add("a", 1));
  EXPECT_FALSE(matcher.add("a", 2));
  EXPECT_EQ(find(matcher, "a"), (Found{{1, {0, 1}}}));
  EXPECT_EQ(find(LiteralMatcher(), "a"), Found{});
}

}  // namespace
}  // namespace buoy::text
