#include "buoy/questions/data/item_ids.h"

#include <gtest/gtest.h>

namespace buoy::questions {
namespace {

TEST(ItemIds, IdsThatAreFileNamesStay) {
  ItemIds ids;
  EXPECT_EQ(ids.assign("nq-0_a.B"), "nq-0_a.B");
  EXPECT_EQ(ids.assign("-"), "-");
  EXPECT_EQ(ids.changed(), 0U);
}

TEST(ItemIds, OtherCharactersAreReplaced) {
  ItemIds ids;
  EXPECT_EQ(ids.assign("a/b c"), "a_b_c");
  EXPECT_EQ(ids.assign("../x"), "_._x");
  EXPECT_EQ(ids.assign("Stra\u00dfe"), "Stra_e") << "one for a character, not for a byte";
  EXPECT_EQ(ids.assign(std::string(200, 'x')), std::string(128, 'x'));
  EXPECT_EQ(ids.changed(), 4U);
}

TEST(ItemIds, RepeatsAreNumbered) {
  ItemIds ids;
  EXPECT_EQ(ids.assign("q"), "q");
  EXPECT_EQ(ids.assign("q-2"), "q-2");
  EXPECT_EQ(ids.assign("q"), "q-3") << "q-2 is taken";
  EXPECT_EQ(ids.assign("q"), "q-4");
  EXPECT_EQ(ids.assign("q-2"), "q-2-2");
  EXPECT_EQ(ids.changed(), 3U);
  const std::string longest(128, 'x');
  EXPECT_EQ(ids.assign(longest), longest);
  EXPECT_EQ(ids.assign(longest), longest.substr(2) + "-2");
}

TEST(ItemIds, MissingOnesAreTheNumberOfTheItem) {
  ItemIds ids;
  EXPECT_EQ(ids.assign("a"), "a");
  EXPECT_EQ(ids.assign(""), "000002");
  EXPECT_EQ(ids.assign("000004"), "000004");
  EXPECT_EQ(ids.assign(""), "000004-2");
  EXPECT_EQ(ids.missing(), 2U);
}

}  // namespace
}  // namespace buoy::questions
