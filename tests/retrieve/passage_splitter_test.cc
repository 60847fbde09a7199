#include "buoy/retrieve/passage_splitter.h"

#include <gtest/gtest.h>

#include <sstream>

#include "buoy/base/error.h"
#include "buoy/base/utf8.h"
#include "buoy/retrieve/sentence_end.h"
#include "support/fails_with.h"

namespace buoy::retrieve {
namespace {

using testing::fails_with;
using Texts = std::vector<std::string>;

Texts split(const std::string& text, const PassageOptions& options, std::size_t piece = 1 << 20) {
  Texts passages;
  PassageSplitter splitter(options, [&](std::string_view passage) { passages.emplace_back(passage); });
  for (std::size_t at = 0; at < text.size(); at += piece) splitter.add(text.substr(at, piece));
  splitter.finish();
  return passages;
}

Texts words_of(const std::string& text) {
  std::istringstream stream(text);
  Texts words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// "w0 w1 w2 ...", with a full stop behind every `sentence`-th word (0: behind none).
std::string numbered_words(std::size_t count, std::size_t sentence) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += (i == 0 ? "W" : " W") + std::to_string(i);
    if (sentence != 0 && (i + 1) % sentence == 0) text += '.';
  }
  return text;
}

TEST(PassageSplitter, ShortTextsStayWhole) {
  EXPECT_EQ(split("", {}), Texts{});
  EXPECT_EQ(split(" \n\t ", {}), Texts{});
  EXPECT_EQ(split("  One  two.\nThree. ", {}), Texts{"One  two.\nThree."}) << "verbatim, without the ends";
  EXPECT_EQ(split(numbered_words(125, 7), {}).size(), 1U);
  EXPECT_EQ(split(numbered_words(126, 7), {}).size(), 2U);
}

TEST(PassageSplitter, CutsAtTheSentenceEndNearestToTheLengthAskedFor) {
  const auto passages = split(numbered_words(300, 30), {});
  ASSERT_EQ(passages.size(), 3U);
  EXPECT_EQ(words_of(passages[0]).size(), 90U) << "90 is nearer to 100 than 120";
  EXPECT_EQ(words_of(passages[1]).front(), "W90");
  for (const auto& passage : passages) EXPECT_TRUE(passage.ends_with('.')) << passage;
}

TEST(PassageSplitter, CutsBehindTheWordWhereNoSentenceEnds) {
  const auto passages = split(numbered_words(250, 0), {});
  ASSERT_EQ(passages.size(), 3U);
  EXPECT_EQ(words_of(passages[0]).size(), 100U);
  EXPECT_EQ(words_of(passages[1]).size(), 100U);
  EXPECT_EQ(words_of(passages[2]).size(), 50U);
}

TEST(PassageSplitter, AnEmptyLineEndsASentence) {
  const auto passages = split(numbered_words(95, 0) + "\n \n" + numbered_words(95, 0), {});
  ASSERT_EQ(passages.size(), 2U);
  EXPECT_EQ(passages[0], numbered_words(95, 0));
}

TEST(PassageSplitter, OverlapRepeatsTheLastWords) {
  const auto passages = split(numbered_words(250, 0), {100, 20});
  ASSERT_EQ(passages.size(), 3U);
  EXPECT_EQ(words_of(passages[1]).front(), "W80");
  EXPECT_EQ(words_of(passages[2]).front(), "W160");
  EXPECT_EQ(words_of(passages[2]).back(), "W249");
}

// Any text: every word exactly once and in order, sizes within bounds, and the same passages however the text
// arrives.
TEST(PassageSplitter, PropertiesOnDrawnTexts) {
  std::uint64_t state = 7;
  const auto draw = [&](std::uint64_t below) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33) % below;
  };
  for (int round = 0; round < 200; ++round) {
    const PassageOptions options{10 + draw(60), 0};
    std::string text;
    for (std::uint64_t words = draw(600); words > 0; --words) {
      text += std::string(1 + draw(9), static_cast<char>('A' + draw(26)));
      if (draw(8) == 0) text += draw(2) == 0 ? "." : "é!";
      text += draw(30) == 0 ? "\n\n" : draw(5) == 0 ? "  " : " ";
    }
    const auto passages = split(text, options);
    Texts words;
    std::size_t from = 0;
    for (std::size_t i = 0; i < passages.size(); ++i) {
      const auto some = words_of(passages[i]);
      EXPECT_LE(some.size(), options.words * 5 / 4);
      if (passages.size() > 1) {
        const bool last = i + 1 == passages.size();
        EXPECT_GE(some.size() * 4, last ? options.words - 3 : options.words * 3);
      }
      from = text.find(passages[i], from);
      ASSERT_NE(from, std::string::npos) << "not verbatim";
      from += passages[i].size();
      words.insert(words.end(), some.begin(), some.end());
    }
    EXPECT_EQ(words, words_of(text));
    EXPECT_EQ(split(text, options, 1 + draw(50)), passages) << "in pieces";
  }
}

TEST(PassageSplitter, TextWithoutWhiteSpaceIsCutBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "語";
  const auto passages = split(text, {10, 0});
  EXPECT_GT(passages.size(), 10U);
  std::string joined;
  for (const auto& passage : passages) {
    EXPECT_EQ(first_invalid_utf8(passage), passage.size());
    joined += passage;
  }
  EXPECT_EQ(joined, text);
}

TEST(PassageSplitter, OptionsThatMakeNoSense) {
  EXPECT_TRUE(fails_with<UsageError>([] { check({9, 0}); }, {"words of a passage", "10", "9"}));
  EXPECT_TRUE(fails_with<UsageError>([] { check({100, 51}); }, {"overlap", "50", "51"}));
  EXPECT_NO_THROW(check({10, 5}));
}

TEST(SentenceEnd, ShortFormsAndInitialsDoNotEndOne) {
  EXPECT_TRUE(ends_sentence("sea.", 'T'));
  EXPECT_TRUE(ends_sentence("sea.\")", 'T'));
  EXPECT_TRUE(ends_sentence("why?", 'i'));
  EXPECT_TRUE(ends_sentence("了。", 'T'));
  EXPECT_TRUE(ends_sentence("1871.", '1'));
  EXPECT_FALSE(ends_sentence("sea", 'T'));
  EXPECT_FALSE(ends_sentence("sea.", 't'));
  EXPECT_FALSE(ends_sentence("Dr.", 'H'));
  EXPECT_FALSE(ends_sentence("J.", 'S'));
  EXPECT_FALSE(ends_sentence("U.S.", 'A'));
  EXPECT_FALSE(ends_sentence(".", 'A'));
  EXPECT_FALSE(ends_sentence("", 'A'));
}

}  // namespace
}  // namespace buoy::retrieve
