#include "buoy/questions/data/evidence.h"

#include <gtest/gtest.h>

#include "buoy/base/error.h"

namespace buoy::questions {
namespace {

using Texts = std::vector<std::string>;

Texts found(const std::string& text, const Texts& answers) {
  Texts places;
  for (const ByteRange& place : find_evidence(text, answers)) {
    places.push_back(text.substr(place.begin, place.end - place.begin));
  }
  return places;
}

TEST(Evidence, EveryPlaceInTheOrderOfTheText) {
  EXPECT_EQ(find_evidence("Paris, paris and PARIS", Texts{"Paris"}),
            (std::vector<ByteRange>{{0, 5}, {7, 12}, {17, 22}}));
  EXPECT_EQ(found("Rome and Paris", {"Paris", "Rome"}), (Texts{"Rome", "Paris"}));
  EXPECT_EQ(found("London", {"Paris"}), Texts{});
  EXPECT_EQ(found("", {"Paris"}), Texts{});
}

TEST(Evidence, WholeWordsOnly) {
  EXPECT_EQ(found("comparison, Parisian, in 1984 and 19845", {"Paris", "1984"}), Texts{"1984"});
  EXPECT_EQ(found("Parise\u0301", {"Parise"}), Texts{}) << "an accent belongs to its word";
  EXPECT_EQ(found("50% of it", {"50%"}), Texts{"50%"}) << "no border needed beside punctuation";
  EXPECT_EQ(found("x50%y", {"50%"}), Texts{});
  EXPECT_EQ(found("(Paris)", {"Paris"}), Texts{"Paris"});
}

TEST(Evidence, LongerAnswersFirst) {
  EXPECT_EQ(found("New York City and York", {"York", "New York City", "New York"}),
            (Texts{"New York City", "York"}));
  EXPECT_EQ(found("a b c", {"b c", "a b"}), Texts{"b c"})
      << "of equals the first given; the other overlaps it";
}

TEST(Evidence, CaseAndSpacesDoNotMatter) {
  EXPECT_EQ(found("\u00c9mile, STRA\u1e9eE, \u039f\u0394\u039f\u03a3",
                  {"\u00e9mile", "stra\u00dfe", "\u03bf\u03b4\u03bf\u03c2"}),
            (Texts{"\u00c9mile", "STRA\u1e9eE", "\u039f\u0394\u039f\u03a3"}));
  EXPECT_EQ(found("New\u00a0York", {" New York "}), Texts{"New\u00a0York"});
  EXPECT_EQ(found("D\u0131yar", {"diyar"}), Texts{}) << "dotless i is another letter";
}

TEST(Evidence, BlankAnswersAreNowhere) {
  EXPECT_EQ(found("a  b", {" ", ""}), Texts{});
}

TEST(Evidence, TextMustBeWellFormed) {
  EXPECT_THROW(find_evidence("\xFF", Texts{"a"}), InputError);
}

TEST(Evidence, IsLookedForInGoldPassagesElseInAll) {
  Item item;
  item.passages = {{.text = "x"}, {.text = "y", .gold = true}};
  EXPECT_FALSE(may_hold_evidence(item, 0));
  EXPECT_TRUE(may_hold_evidence(item, 1));
  item.passages[1].gold = false;
  EXPECT_TRUE(may_hold_evidence(item, 0));
}

}  // namespace
}  // namespace buoy::questions
