#include "buoy/questions/passages.h"

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "buoy/questions/prompt/prompt_template.h"
#include "support/fails_with.h"

namespace buoy::questions {
namespace {

using testing::fails_with;

// Passages by their texts; a gold one is written in capitals.
Item item_of(const std::vector<std::string>& texts) {
  Item item;
  item.id = "one";
  item.question = "Q?";
  item.answers = {"A"};
  for (const std::string& text : texts) {
    item.passages.push_back({.text = text, .gold = std::isupper(static_cast<unsigned char>(text[0])) != 0});
  }
  return item;
}

std::string order(const Item& item) {
  std::string texts;
  for (const Passage& passage : item.passages) texts += passage.text + " ";
  if (!texts.empty()) texts.pop_back();
  return texts;
}

TEST(Passages, GoldGoesToTheAskedPlace) {
  const auto placed = [](const std::vector<std::string>& texts, std::size_t position) {
    Item item = item_of(texts);
    place_gold(item, position);
    return order(item);
  };
  EXPECT_EQ(placed({"G", "a", "b", "c"}, 1), "G a b c");
  EXPECT_EQ(placed({"G", "a", "b", "c"}, 3), "a b G c");
  EXPECT_EQ(placed({"G", "a", "b", "c"}, 4), "a b c G");
  EXPECT_EQ(placed({"a", "b", "c", "G"}, 2), "a G b c");
  EXPECT_EQ(placed({"a", "G", "b", "H"}, 4), "a b H G") << "the first of two";
}

TEST(Passages, GoldPlacesThatDoNotExist) {
  Item item = item_of({"a", "G"});
  EXPECT_TRUE(
      fails_with<InputError>([&] { place_gold(item, 3); }, {"item one: gold position", "1 to 2", "3"}));
  EXPECT_TRUE(
      fails_with<InputError>([&] { place_gold(item, 0); }, {"item one: gold position", "1 to 2", "0"}));
  EXPECT_EQ(order(item), "a G") << "left as it was";
  Item none = item_of({"a", "b"});
  EXPECT_TRUE(fails_with<InputError>([&] { place_gold(none, 1); }, {"item one", "marked gold", "none in 2"}));
}

TEST(Passages, Positions) {
  EXPECT_EQ(gold_positions(item_of({"a", "G", "b", "H"})), (std::vector<std::size_t>{2, 4}));
  EXPECT_TRUE(gold_positions(item_of({"a"})).empty());
}

TEST(Passages, TheFirstOnes) {
  Item item = item_of({"a", "b", "G"});
  keep_first(item, 5);
  EXPECT_EQ(order(item), "a b G");
  keep_first(item, 2);
  EXPECT_EQ(order(item), "a b");
}

TEST(Passages, FewerWithoutLosingTheGoldOne) {
  const auto kept = [](const std::vector<std::string>& texts, std::size_t count) {
    Item item = item_of(texts);
    keep_with_gold(item, count);
    return order(item);
  };
  EXPECT_EQ(kept({"a", "b", "c", "G"}, 2), "a G");
  EXPECT_EQ(kept({"G", "a", "b", "c"}, 3), "G a b");
  EXPECT_EQ(kept({"a", "G", "b", "c"}, 3), "a G b");
  EXPECT_EQ(kept({"a", "G"}, 1), "G");
  EXPECT_EQ(kept({"a", "G"}, 2), "a G");
  Item item = item_of({"a", "G"});
  EXPECT_TRUE(fails_with<InputError>([&] { keep_with_gold(item, 3); }, {"item one", "1 to 2", "3"}));
  EXPECT_TRUE(fails_with<InputError>([&] { keep_with_gold(item, 0); }, {"item one", "1 to 2", "0"}));
}

// A prompt's tokens are here the words and passages of an item, and ten more.
std::size_t count_words(const Item& item) {
  std::size_t tokens = 10;
  for (const Passage& passage : item.passages) {
    tokens += 2 + static_cast<std::size_t>(std::count(passage.text.begin(), passage.text.end(), ' '));
  }
  return tokens;
}

TEST(FitPassages, LeavesWhatFitsAlone) {
  Item item = item_of({"a b c", "d e f"});
  const FitResult fit = fit_passages(item, 18, count_words);
  EXPECT_EQ(order(item), "a b c d e f");
  EXPECT_EQ(fit.affected(), 0U);
  EXPECT_EQ(fit.tokens, 18U);
}

TEST(FitPassages, CutsTheLastAtAWord) {
  Item item = item_of({"a b c", "d e f"});
  const FitResult fit = fit_passages(item, 17, count_words);
  EXPECT_EQ(order(item), "a b c d e");
  EXPECT_TRUE(fit.cut);
  EXPECT_EQ(fit.dropped, 0U);
  EXPECT_EQ(fit.affected(), 1U);
  EXPECT_EQ(fit.tokens, 17U);
  EXPECT_FALSE(fit.lost_gold);
}

TEST(FitPassages, DropsFromTheLast) {
  Item item = item_of({"a b c", "d e f", "g h i", "J k l"});
  const FitResult fit = fit_passages(item, 16, count_words);
  EXPECT_EQ(order(item), "a b c d");
  EXPECT_TRUE(fit.cut);
  EXPECT_EQ(fit.dropped, 2U);
  EXPECT_EQ(fit.affected(), 3U);
  EXPECT_TRUE(fit.lost_gold);
  Item other = item_of({"a b c", "d e f", "g h i"});
  const FitResult whole = fit_passages(other, 15, count_words);
  EXPECT_EQ(order(other), "a b c");
  EXPECT_FALSE(whole.cut);
  EXPECT_EQ(whole.dropped, 2U);
}

TEST(FitPassages, CutsInsideAWordWhenThereIsOnlyOne) {
  Item item = item_of({"\u6771\u4eac\u90fd\u5e81"});
  const auto count_bytes = [](const Item& it) { return it.passages[0].text.size(); };
  const FitResult fit = fit_passages(item, 8, count_bytes);
  EXPECT_EQ(order(item), "\u6771\u4eac") << "whole characters";
  EXPECT_TRUE(fit.cut);
}

TEST(FitPassages, RefusesWhatCannotFit) {
  Item item = item_of({"a b c", "d"});
  EXPECT_TRUE(
      fails_with<InputError>([&] { fit_passages(item, 11, count_words); },
                             {"item one: prompt", "at most 11 tokens", "12 with hardly a passage left"}));
  EXPECT_EQ(order(item), "a b c d") << "left as it was";
  Item bare = item_of({});
  EXPECT_TRUE(
      fails_with<InputError>([&] { fit_passages(bare, 9, count_words); }, {"item one", "9 tokens", "10"}));
}

TEST(FitPassages, NeedsFewCounts) {
  Item item = item_of(std::vector<std::string>(100, "w w w w w w w w w w w w w w w w w w w w"));
  int calls = 0;
  fit_passages(item, 500, [&](const Item& it) {
    ++calls;
    return count_words(it);
  });
  EXPECT_EQ(item.passages.size(), 24U);
  EXPECT_LT(calls, 20);
}

TEST(FitPassages, NeverShowsATemplateAnItemWithoutPassages) {
  const auto prompt = PromptTemplate::load("shared-passages");
  Item item = item_of({"some words that go on and on", "more words"});
  const auto count = [&](const Item& it) { return prompt.render(it).text.size(); };
  const std::size_t one_word = [&] {
    Item least = item_of({"some"});
    return count(least);
  }();
  fit_passages(item, one_word, count);
  EXPECT_EQ(order(item), "some");
}

}  // namespace
}  // namespace buoy::questions
