#include "buoy/observe/plan.h"

#include <gtest/gtest.h>

#include "buoy/base/error.h"

namespace buoy::observe {
namespace {

using Numbers = std::vector<std::int64_t>;

TEST(NumberSet, NumbersAndRanges) {
  EXPECT_EQ(NumberSet("0-3,7", "`layers`").below(8), (Numbers{0, 1, 2, 3, 7}));
  EXPECT_EQ(NumberSet("5,1-2,2", "`layers`").below(6), (Numbers{1, 2, 5}));
  EXPECT_EQ(NumberSet().below(3), (Numbers{0, 1, 2})) << "no list: all";
}

TEST(NumberSet, WhatIsNoListIsRefusedByName) {
  for (const char* list : {"a", "1-", "-1", "3-1", "1,,2", "1 2"}) {
    try {
      NumberSet(list, "`layers`");
      ADD_FAILURE() << list;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find("`layers`"), std::string::npos);
    }
  }
  EXPECT_THROW(NumberSet("31-32", "`layers`").below(32), UsageError);
}

TEST(Plan, NamesWhatIsObserved) {
  const Plan plan = parse_plan("entropy,received", "", "");
  EXPECT_EQ(plan.names(), (std::vector<std::string>{"received", "entropy"}));
  EXPECT_FALSE(parse_plan("all", "", "").has("dense")) << "T x T only when asked for by name";
  EXPECT_TRUE(parse_plan("all,dense", "", "").has("dense"));
  EXPECT_FALSE(parse_plan("all", "", "").has("rows")) << "grows with the answer times the steps";
  EXPECT_TRUE(parse_plan("all,rows", "", "").has("rows"));
  EXPECT_THROW(parse_plan("recieved", "", ""), UsageError);
  EXPECT_THROW(parse_plan("", "", ""), UsageError);
}

}  // namespace
}  // namespace buoy::observe
