#include "buoy/retrieve/query.h"

#include <gtest/gtest.h>

namespace buoy::retrieve {
namespace {

using Words = std::vector<std::string>;

TEST(Query, QuestionWordsAreLeftOut) {
  EXPECT_EQ(search_words("Who painted the Night Watch?"), (Words{"painted", "Night", "Watch"}));
  EXPECT_EQ(search_words("how many moons does Mars have"), (Words{"moons", "Mars"}));
}

TEST(Query, UnlessNothingElseIsThere) {
  EXPECT_EQ(search_words("Who is the Who?"), (Words{"Who", "is", "the"}));
  EXPECT_EQ(search_words("IT"), (Words{"IT"}));
}

TEST(Query, EveryWordOnceWhateverItsCase) {
  EXPECT_EQ(search_words("Paris paris PARIS Élan élan"), (Words{"Paris", "Élan"}));
}

TEST(Query, JoinedWordsStayTogether) {
  EXPECT_EQ(search_words("O'Brien's U.S. boat-house 3.5"), (Words{"O'Brien's", "U.S", "boat-house", "3.5"}));
  EXPECT_EQ(search_words("'quoted' -dash- ...dots... and/or"), (Words{"quoted", "dash", "dots"}));
  EXPECT_EQ(search_words("a--b"), (Words{"b"})) << "two hyphens are a dash";
}

TEST(Query, NothingToSearchFor) {
  EXPECT_EQ(search_words(""), Words{});
  EXPECT_EQ(search_words(" ?!\"()*:^{}-+\n\t"), Words{});
  EXPECT_EQ(match_expression("?"), "");
}

TEST(Query, NothingIsReadAsSyntax) {
  EXPECT_EQ(match_expression("cats AND dogs"), R"("cats" OR "dogs")");
  EXPECT_EQ(match_expression("text:\"x\" NEAR(y z) ^w* ) OR \"\"\""),
            R"("text" OR "x" OR "NEAR" OR "y" OR "z" OR "w")");
  EXPECT_EQ(match_expression(std::string_view("nul\0inside", 10)), R"("nul" OR "inside")");
  EXPECT_EQ(match_expression("broken\xFF\xC3 utf"), R"("broken" OR "utf")");
}

}  // namespace
}  // namespace buoy::retrieve
