// Noise is drawn per item, the same every time, and never helps.

#include "buoy/questions/noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "buoy/base/error.h"
#include "buoy/questions/data/evidence.h"
#include "support/fails_with.h"

namespace buoy::questions {
namespace {

using testing::fails_with;

// Item n asks for "town n"; its gold passage says so twice, its other passage is one a search would find.
std::vector<Item> towns(int count) {
  std::vector<Item> items;
  for (int n = 0; n < count; ++n) {
    const std::string name = std::to_string(n), town = "Town" + name;
    const std::string text = "Person " + name + " lives in " + town + ". The mayor of " + town + " is proud.";
    items.push_back(
        {"item-" + name,
         "Where does person " + name + " live?",
         {town, "the town " + name},
         {{"Found " + name, "Person " + name + " owns a boat.", false, {}}, {"Gold " + name, text, true, {}}},
         {},
         {},
         {}});
  }
  return items;
}

Item noisy(const std::vector<Item>& items, std::size_t number, const NoiseOptions& options) {
  return with_noise(items[number], number, NoisePool(items), options);
}

std::vector<Passage> not_gold(const Item& item) {
  std::vector<Passage> out;
  std::copy_if(item.passages.begin(), item.passages.end(), std::back_inserter(out),
               [](const Passage& passage) { return !passage.gold; });
  return out;
}

std::vector<std::string> texts(const std::vector<Passage>& passages) {
  std::vector<std::string> out;
  for (const auto& passage : passages) out.push_back(passage.title + ": " + passage.text);
  return out;
}

std::multiset<std::string> words(const std::string& text) {
  std::multiset<std::string> out;
  std::string word;
  for (const char c : text + ' ') {
    if (c != ' ') {
      word += c;
    } else if (!word.empty()) {
      out.insert(word), word.clear();
    }
  }
  return out;
}

TEST(Noise, NamesReadBack) {
  EXPECT_EQ(noise_names(),
            (std::vector<std::string>{"random", "retrieved", "contradiction", "shuffled", "repeated"}));
  for (const auto& name : noise_names()) EXPECT_EQ(name_of(noise_from_name(name)), name);
  EXPECT_TRUE(fails_with<UsageError>([] { noise_from_name("loud"); }, {"random", "repeated", "loud"}));
}

TEST(Noise, IsTheSameEveryTimeAndASmallerCountIsTheBeginningOfALargerOne) {
  auto items = towns(12);
  for (auto& item : items)  // enough of its own for every count
    for (int i = 0; i < 5; ++i) item.passages.push_back({"", "More " + std::to_string(i), false, {}});
  for (const auto& name : noise_names()) {
    SCOPED_TRACE(name);
    const Noise kind = noise_from_name(name);
    for (std::size_t number = 0; number < 3; ++number) {
      const auto most = texts(not_gold(noisy(items, number, {kind, 5, 1})));
      ASSERT_EQ(most.size(), 5u);
      for (std::size_t count = 0; count <= 5; ++count) {
        const Item once = noisy(items, number, {kind, count, 1}),
                   again = noisy(items, number, {kind, count, 1});
        EXPECT_EQ(texts(once.passages), texts(again.passages));
        ASSERT_EQ(once.passages.size(), count + 1);
        const auto noise = texts(not_gold(once));
        EXPECT_TRUE(std::equal(noise.begin(), noise.end(), most.begin())) << count;
      }
    }
  }
}

TEST(Noise, ItemsAndSeedsDifferAndTheGoldPassageGoesEverywhere) {
  const auto items = towns(40);
  std::set<std::vector<std::string>> drawn;
  std::set<std::ptrdiff_t> places;
  for (std::size_t number = 0; number < items.size(); ++number) {
    const Item item = noisy(items, number, {Noise::kRandom, 3, 1});
    drawn.insert(texts(not_gold(item)));
    const auto gold =
        std::find_if(item.passages.begin(), item.passages.end(), [](auto& p) { return p.gold; });
    ASSERT_NE(gold, item.passages.end());
    EXPECT_EQ(gold->text, items[number].passages[1].text);
    places.insert(gold - item.passages.begin());
  }
  EXPECT_GT(drawn.size(), 35u);
  EXPECT_EQ(places, (std::set<std::ptrdiff_t>{0, 1, 2, 3}));
  EXPECT_NE(texts(noisy(items, 0, {Noise::kRandom, 3, 1}).passages),
            texts(noisy(items, 0, {Noise::kRandom, 3, 2}).passages));
}

TEST(Noise, RandomPassagesComeFromOtherItemsAndNeverHoldTheAnswer) {
  auto items = towns(8);
  items[3].passages = {
      {"", "Some say that town0 is a village.", false, {}}};  // another case is no other answer
  items[4].passages = {{"Town0", "A title tells as much.", false, {}}};
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const auto noise = not_gold(noisy(items, 0, {Noise::kRandom, 5, seed}));
    std::set<std::string> sources;
    for (const auto& passage : noise) {
      EXPECT_TRUE(find_evidence(passage.title + " / " + passage.text, items[0].answers).empty())
          << passage.text;
      EXPECT_FALSE(passage.gold) << "gold of another item";
      sources.insert(passage.title.substr(passage.title.rfind(' ')));
    }
    EXPECT_EQ(sources.size(), 5u) << "one passage of each";
  }
  EXPECT_TRUE(fails_with<InputError>(
      [&] {
        noisy(items, 0, {Noise::kRandom, 6, 1});
      },
      {"item item-0", "random", "6", "other items", "5"}));
}

TEST(Noise, RetrievedPassagesAreTheItemsOwnThatAreWrong) {
  auto items = towns(3);
  items[0].passages.push_back({"Says it", "A guide to Town0.", false, {}});
  items[0].passages.push_back({"Marked", "It is there.", false, true});
  items[0].passages.push_back({"Wrong", "Person 0 left.", false, false});
  EXPECT_EQ(texts(not_gold(noisy(items, 0, {Noise::kRetrieved, 2, 1}))),
            (std::vector<std::string>{"Found 0: Person 0 owns a boat.", "Wrong: Person 0 left."}));
  EXPECT_TRUE(fails_with<InputError>(
      [&] {
        noisy(items, 0, {Noise::kRetrieved, 3, 1});
      },
      {"item item-0", "retrieved", "3", "its own", "2"}));
}

TEST(Noise, ContradictionsReplaceEveryAnswerByThatOfAnotherItem) {
  auto items = towns(6);
  items[0].passages[1].text += " It is also called the TOWN 0.";
  const auto noise = not_gold(noisy(items, 0, {Noise::kContradiction, 3, 1}));
  std::set<std::string> claims;
  for (const auto& passage : noise) {
    EXPECT_EQ(passage.title, "Gold 0");
    const auto at = passage.text.find("lives in ") + 9;
    const std::string town = passage.text.substr(at, passage.text.find('.') - at);
    EXPECT_NE(town, "Town0");
    EXPECT_EQ(passage.text, "Person 0 lives in " + town + ". The mayor of " + town +
                                " is proud. It is also called " + town + ".");
    claims.insert(town);
  }
  EXPECT_EQ(claims.size(), 3u);

  items[0].passages[1].text = "Nothing of that kind.";
  EXPECT_TRUE(fails_with<InputError>(
      [&] {
        noisy(items, 0, {Noise::kContradiction, 1, 1});
      },
      {"item item-0", "gold passage", "an answer in it", "none"}));
  for (auto& item : items) item.answers = items[1].answers;
  EXPECT_TRUE(fails_with<InputError>(
      [&] {
        noisy(items, 1, {Noise::kContradiction, 1, 1});
      },
      {"item item-1", "contradiction", "1", "another answer", "0"}));
}

TEST(Noise, ShuffledKeepsTheWordsAndRepeatedIsOnePassage) {
  const auto items = towns(20);
  const auto plain = not_gold(noisy(items, 0, {Noise::kRandom, 8, 1}));
  const auto shuffled = not_gold(noisy(items, 0, {Noise::kShuffled, 8, 1}));
  int moved = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_EQ(words(shuffled[i].text), words(plain[i].text));
    moved += shuffled[i].text != plain[i].text ? 1 : 0;
  }
  EXPECT_GE(moved, 6);
  const auto repeated = texts(not_gold(noisy(items, 0, {Noise::kRepeated, 4, 1})));
  EXPECT_EQ(repeated, std::vector<std::string>(4, repeated[0]));
  EXPECT_EQ(noisy(items, 0, {Noise::kRepeated, 0, 1}).passages.size(), 1u);
}

TEST(Noise, NeedsAGoldPassageAndKeepsAll) {
  auto items = towns(4);
  items[0].passages.push_back({"Second", "Also gold.", true, {}});
  items[0].prompt = "ready made";
  const Item item = noisy(items, 0, {Noise::kRandom, 2, 1});
  EXPECT_EQ(item.passages.size(), 4u);
  EXPECT_FALSE(item.prompt.has_value()) << "a ready prompt has other passages in it";
  const auto second =
      std::find_if(item.passages.begin(), item.passages.end(), [](auto& p) { return p.title == "Second"; });
  ASSERT_NE(second, item.passages.end());
  ASSERT_NE(second, item.passages.begin());
  EXPECT_TRUE(std::prev(second)->gold) << "the gold ones stand together";
  for (auto& passage : items[0].passages) passage.gold = false;
  EXPECT_TRUE(fails_with<InputError>(
      [&] {
        noisy(items, 0, {Noise::kRandom, 0, 1});
      },
      {"item item-0", "passages", "marked gold", "none in 3"}));
}

}  // namespace
}  // namespace buoy::questions
