#include "buoy/observe/query_groups.h"

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "buoy/probe/request.h"

namespace buoy::observe {
namespace {

using Bytes = std::vector<std::uint8_t>;
constexpr auto kNone = probe::kNoGroup;

// bos, template, query, two documents, then an answer of three slots of which one is masked (token 9).
const std::vector<std::int32_t> kRow = {1, 2, 3, 4, 5, 6, 9, 8};
Regions small_regions() {
  return {
      {"bos", "template", "query", "document 1", "document 2", "answer"}, {0, 1, 2, 3, 4, 5, 5, 5}, {}, {}};
}
constexpr std::int64_t kPrompt = 5;
constexpr std::int32_t kMask = 9;

TEST(QueryGroups, ByStateTellsPromptRevealedMasked) {
  const auto groups = QueryGroups::by_state();
  EXPECT_EQ(groups.assign({kRow, kPrompt, kMask}), (Bytes{0, 0, 0, 0, 0, 1, 2, 1}));
  EXPECT_EQ(groups.assign({kRow, kPrompt, -1}), (Bytes{0, 0, 0, 0, 0, 1, 1, 1})) << "no mask: all revealed";
}

TEST(QueryGroups, AMaskInThePromptIsPrompt) {
  const std::vector<std::int32_t> row = {kMask, 1};
  EXPECT_EQ(QueryGroups::by_state().assign({row, 1, kMask}), (Bytes{0, 1}));
}

TEST(QueryGroups, ByRegionGivesEachRegionOfThePromptItsOwn) {
  const auto groups = QueryGroups::by_region(small_regions());
  EXPECT_EQ(groups.names(), (std::vector<std::string>{"bos", "template", "query", "document 1", "document 2",
                                                      "answer, revealed", "answer, masked"}));
  EXPECT_EQ(groups.assign({kRow, kPrompt, kMask}), (Bytes{0, 1, 2, 3, 4, 5, 6, 5}));
}

TEST(QueryGroups, MoreThanSixteenAreRefusedWithAWayOut) {
  Regions regions;
  for (int i = 0; i < 15; ++i) {
    regions.names.push_back("document " + std::to_string(i));
    regions.of_token.push_back(static_cast<std::uint8_t>(i));
  }
  try {
    QueryGroups::by_region(regions);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("`groups` state"), std::string::npos) << error.what();
  }
  regions.names.pop_back();
  regions.of_token.pop_back();
  EXPECT_EQ(QueryGroups::by_region(regions).count(), 16);
}

TEST(QueryGroups, ByParity) {
  EXPECT_EQ(QueryGroups::by_parity().assign({kRow, kPrompt, kMask}), (Bytes{0, 1, 0, 1, 0, 1, 0, 1}));
}

TEST(QueryGroups, ListedPositionsNeedNotTouch) {
  const auto groups = QueryGroups::parse("bos=0;some=2-3,6", {});
  EXPECT_EQ(groups.names(), (std::vector<std::string>{"bos", "some"}));
  EXPECT_EQ(groups.assign({kRow, kPrompt, kMask}), (Bytes{0, kNone, 1, 1, kNone, kNone, 1, kNone}));
}

TEST(QueryGroups, WhatIsNoListIsRefused) {
  for (const char* list : {"x", "=1", "a=1;", "a=1;b=1", "a=1-x", "a=0-2000000"}) {
    EXPECT_THROW(QueryGroups::parse(list, {}), UsageError) << list;
  }
}

}  // namespace
}  // namespace buoy::observe
