#include "buoy/questions/data/split_evidence.h"

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "support/fails_with.h"

namespace buoy::questions {
namespace {

using testing::fails_with;

Item item_of(const std::string& gold, int others, std::size_t place = 0) {
  Item item{"one", "Q?", {"A"}, {}, {}, {}, {}};
  for (int i = 0; i < others; ++i)
    item.passages.push_back({"", std::string(1, static_cast<char>('a' + i)), false, {}});
  item.passages.insert(item.passages.begin() + static_cast<std::ptrdiff_t>(place),
                       {"Title", gold, true, true});
  return item;
}

// Gold pieces as they stand, "|" between passages.
std::string order(const Item& item) {
  std::string out;
  for (const auto& passage : item.passages) out += (out.empty() ? "" : "|") + passage.text;
  return out;
}

std::string split(Item item, std::size_t parts) {
  split_evidence(item, parts);
  return order(item);
}

TEST(SplitEvidence, PiecesStandInOrderAndHoldEverySentence) {
  const std::string gold = "One is first. Two follows! Is three next? Four ends.";
  for (std::size_t parts = 1; parts <= 4; ++parts) {
    Item item = item_of(gold, 5, 2);
    split_evidence(item, parts);
    std::string together;
    std::size_t pieces = 0;
    for (const auto& passage : item.passages) {
      if (!passage.gold) continue;
      together += (together.empty() ? "" : " ") + passage.text;
      EXPECT_EQ(passage.title, "Title");
      EXPECT_EQ(passage.has_answer, true);
      ++pieces;
    }
    EXPECT_EQ(pieces, parts);
    EXPECT_EQ(together, gold);
    EXPECT_EQ(item.passages.size(), 5 + parts);
    std::string others;
    for (const auto& passage : item.passages) others += passage.gold ? "" : passage.text;
    EXPECT_EQ(others, "abcde") << "the others keep their order";
  }
}

TEST(SplitEvidence, PiecesAreSpreadEvenlyWhereverTheGoldPassageWas) {
  for (const std::size_t place : {0u, 3u, 6u}) {
    EXPECT_EQ(split(item_of("A. B.", 6, place), 2), "a|A.|b|c|d|B.|e|f") << place;
    EXPECT_EQ(split(item_of("A. B. C.", 6, place), 3), "a|A.|b|c|B.|d|e|C.|f") << place;
  }
  EXPECT_EQ(split(item_of("A. B.", 0), 2), "A.|B.");
  EXPECT_EQ(split(item_of("A. B.", 1), 2), "A.|a|B.");
}

TEST(SplitEvidence, PiecesAreAboutEquallyLongAndNoneIsEmpty) {
  EXPECT_EQ(split(item_of("A. B. A very long sentence stands behind two short ones.", 0), 2),
            "A. B.|A very long sentence stands behind two short ones.");
  EXPECT_EQ(split(item_of("A very long sentence stands before two short ones. B. C.", 0), 3),
            "A very long sentence stands before two short ones.|B.|C.");
}

TEST(SplitEvidence, SentencesEndWhereOneReadsAnEnd) {
  EXPECT_EQ(split(item_of("It cost 3.5 m. e.g. nothing more.\nThen it closed.", 0), 2),
            "It cost 3.5 m. e.g. nothing more.|Then it closed.")
      << "no end inside a number or before a small letter";
  EXPECT_EQ(split(item_of("Wer? Ärger kam.", 0), 2), "Wer?|Ärger kam.");
}

TEST(SplitEvidence, RefusesWhatCannotBeSplit) {
  EXPECT_TRUE(fails_with<InputError>([] { split(item_of("A. B.", 2), 3); },
                                     {"item one", "gold passage", "at least 3 sentences", "2"}));
  Item item = item_of("A. B.", 2);
  item.passages[0].gold = false;
  EXPECT_TRUE(
      fails_with<InputError>([&] { split(item, 2); }, {"item one", "passages", "marked gold", "none in 3"}));
}

}  // namespace
}  // namespace buoy::questions
