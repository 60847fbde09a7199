#include "buoy/text/tokenizer/steps/splitter.h"

#include <gtest/gtest.h>

#include <random>

#include "buoy/base/error.h"
#include "buoy/text/tokenizer/steps/split_pattern.h"
#include "text/support.h"

namespace buoy::text {
namespace {

constexpr std::string_view kLlama =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kLlada =
    R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)";

using Pieces = std::vector<std::string>;

Splitter isolated(std::string_view pattern) {
  return Splitter(Pattern::expression(pattern, "test"), SplitBehavior::kIsolated);
}

Pieces split(std::string_view pattern, const std::string& text) {
  Pieces pieces;
  size_t begin = 0;
  for (const ByteSpan span : isolated(pattern).pieces(text)) {
    EXPECT_EQ(span.begin, begin);
    pieces.push_back(text.substr(begin, span.end - begin));
    begin = span.end;
  }
  EXPECT_EQ(begin, text.size());
  return pieces;
}

TEST(Splitter, SplitsAsTheReleasedPatternsSay) {
  EXPECT_EQ(
      split(kQwen, "Don't wait  for 2024,\r\n\n  ok?! "),
      (Pieces{"Don", "'t", " wait", " ", " for", " ", "2", "0", "2", "4", ",\r\n\n", " ", " ok", "?!", " "}));
  EXPECT_EQ(split(kLlama, "12345 x"), (Pieces{"123", "45", " x"}));
  EXPECT_EQ(split(kQwen, "IT'S I'LL o'\u017F"), (Pieces{"IT", "'S", " I", "'LL", " o", "'\u017F"}));
  EXPECT_EQ(split(kLlama, ""), Pieces{});
}

TEST(Splitter, WhiteSpaceIsTheUnicodeProperty) {
  EXPECT_EQ(split(R"(\s+|\S+)", "a\u00A0\u2003\u3000\u0085b"),
            (Pieces{"a", "\u00A0\u2003\u3000\u0085", "b"}));
  EXPECT_EQ(split(R"(\s+|\S+)", "a\u180Eb\u200Bc\uFEFF"), (Pieces{"a\u180Eb\u200Bc\uFEFF"}));
  EXPECT_EQ(split(R"([^\s]+|[\s]+)", "a\u180Eb c"), (Pieces{"a\u180Eb", " ", "c"}));
}

TEST(Splitter, GapsArePiecesAndEmptyMatchesCut) {
  EXPECT_EQ(split("b+", "aabbcc"), (Pieces{"aa", "bb", "cc"}));
  EXPECT_EQ(split("x*", "ab\u00E9"), (Pieces{"a", "b", "\u00E9"}));
  EXPECT_EQ(split("z", "abc"), (Pieces{"abc"}));
}

// LLaDA's tokenizer.json cannot be fetched; its pattern is known and must cut as Qwen's does.
TEST(Splitter, LladaAndQwenPatternsSplitAlike) {
  const Splitter llada = isolated(kLlada);
  const Splitter qwen = isolated(kQwen);
  std::mt19937 random(3);
  for (int i = 0; i < 100000; ++i) {
    const std::string text = random_text(random, 1 + random() % 30);
    ASSERT_EQ(llada.pieces(text), qwen.pieces(text)) << text;
  }
}

TEST(Splitter, PiecesJoinToTheText) {
  std::mt19937 random(4);
  for (int i = 0; i < 2000; ++i) {
    const std::string text = random_text(random, 1 + random() % 30);
    std::string joined;
    for (const std::string& piece : split(kLlama, text)) joined += piece;
    ASSERT_EQ(joined, text);
  }
}

Pieces pieces_of(const Splitter& splitter, const std::string& text) {
  Pieces pieces;
  for (const ByteSpan span : splitter.pieces(text))
    pieces.push_back(text.substr(span.begin, span.end - span.begin));
  return pieces;
}

TEST(Splitter, BehaviorsSayWhatBecomesOfMatches) {
  const auto split_at = [](SplitBehavior behavior, bool invert) {
    return pieces_of(Splitter(Pattern::literal("-"), behavior, invert), "the-final--countdown");
  };
  using enum SplitBehavior;
  EXPECT_EQ(split_at(kIsolated, false), (Pieces{"the", "-", "final", "-", "-", "countdown"}));
  EXPECT_EQ(split_at(kRemoved, false), (Pieces{"the", "final", "countdown"}));
  EXPECT_EQ(split_at(kMergedWithPrevious, false), (Pieces{"the-", "final-", "-", "countdown"}));
  EXPECT_EQ(split_at(kMergedWithNext, false), (Pieces{"the", "-final", "-", "-countdown"}));
  EXPECT_EQ(split_at(kContiguous, false), (Pieces{"the", "-", "final", "--", "countdown"}));
  EXPECT_EQ(split_at(kRemoved, true), (Pieces{"-", "-", "-"}));
  EXPECT_EQ(pieces_of(Splitter(Pattern::literal("ab"), kIsolated), ""), Pieces{});
}

TEST(Splitter, EndlessBacktrackingIsAnError) {
  const Splitter pathological = isolated("(?:(?:a+)+)+b|.");
  EXPECT_THROW(pathological.pieces(std::string(5000, 'a')), InputError);
}

TEST(SplitPattern, RewritesWhiteSpaceOnly) {
  EXPECT_EQ(pattern_for_pcre2(R"(\s+(?!\S)|[^\s\r\]])", "w"),
            R"(\p{White_Space}+(?!\P{White_Space})|[^\p{White_Space}\r\]])");
  EXPECT_EQ(pattern_for_pcre2(R"(\\s)", "w"), R"(\\s)");
  EXPECT_EQ(pattern_for_pcre2(R"(\p{Lu}\x{1F300}\[s\])", "w"), R"(\p{Lu}\x{1F300}\[s\])");
}

TEST(SplitPattern, RefusesWhatIsNotKnownToMeanTheSame) {
  for (const char* pattern : {R"(\w+)",      R"(\b)",      R"(\Qa\E)",       R"(\K)",     R"(a\)",
                              R"(\pL)",      R"(\p{L)",    R"([[:alpha:]])", R"([a&&b])", R"([])",
                              R"((?P<n>a))", R"((?R))",    R"((*UTF)a)",     R"((?i)a)",  R"(^a)",
                              R"(a$)",       R"(a{1,2}+)", R"(a{,2})",       R"(\h)",     ""}) {
    EXPECT_THROW(pattern_for_pcre2(pattern, "file: field"), InputError) << pattern;
  }
  const std::string message = error_message<InputError>([] { pattern_for_pcre2(R"(ab\w)", "file: field"); });
  EXPECT_EQ(message,
            R"(file: field: expected a pattern Buoy knows how to match, found \w at byte 2 of "ab\w")");
}

TEST(Splitter, RefusesPatternsThatDoNotCompile) {
  for (const char* pattern : {"(", "[a", "a**", R"(\p{Nonsense})", "*"}) {
    EXPECT_THROW(Pattern::expression(pattern, "file: field"), InputError) << pattern;
  }
}

}  // namespace
}  // namespace buoy::text
