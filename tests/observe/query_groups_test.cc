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

// An end token at 6 was revealed: it and all behind it are padding, masked (7) or not.
TEST(QueryGroups, WhatLiesBehindTheEndIsPadding) {
  const std::vector<std::int32_t> row = {1, 2, 3, 4, 5, kMask, 6, kMask};
  const RowState at_places{row, kPrompt, kMask, 6};
  EXPECT_EQ(QueryGroups::by_state().assign(at_places), (Bytes{0, 0, 0, 0, 0, 2, 3, 3}));
  EXPECT_EQ(QueryGroups::by_region(small_regions()).assign(at_places), (Bytes{0, 1, 2, 3, 4, 6, 7, 7}));
}

// In a model that predicts the next token row p - 1 writes token p: the last row of the prompt is the
// answer's, the row of its last word writes padding, and the last row of all writes nothing.
TEST(QueryGroups, RowsGoByTheTokenTheyWrite) {
  const std::vector<std::int32_t> row = {1, 2, 3, 4, 5, 6, kMask, 8};
  const auto groups = QueryGroups::by_state();
  EXPECT_EQ(groups.assign({row, kPrompt, kMask, 7, 1}), (Bytes{0, 0, 0, 0, 1, 2, 3, 3}));
  EXPECT_EQ(groups.assign({row, kPrompt, kMask, 8, 1}), (Bytes{0, 0, 0, 0, 1, 2, 1, 3})) << "no end";
  EXPECT_EQ(groups.assign({row, kPrompt, kMask, 5, 1}), (Bytes{0, 0, 0, 0, 3, 3, 3, 3})) << "no words";
  EXPECT_EQ(groups.assign({row, 8, kMask, 8, 1}), Bytes(8, 0)) << "nothing was generated";
  EXPECT_EQ(QueryGroups::by_region(small_regions()).assign({row, kPrompt, kMask, 7, 1}),
            (Bytes{0, 1, 2, 3, 5, 6, 7, 7}));
}

TEST(QueryGroups, PaddedRegionsGoByTheEnd) {
  auto regions = small_regions();
  EXPECT_EQ(padded(regions, kPrompt, 6).of_token, regions.of_token) << "no such region";
  regions.names.emplace_back("padding");
  EXPECT_EQ(padded(regions, kPrompt, 6).of_token, (Bytes{0, 1, 2, 3, 4, 5, 6, 6}));
  EXPECT_EQ(padded(regions, kPrompt, 8).of_token, regions.of_token);
}

TEST(QueryGroups, AMaskInThePromptIsPrompt) {
  const std::vector<std::int32_t> row = {kMask, 1};
  EXPECT_EQ(QueryGroups::by_state().assign({row, 1, kMask}), (Bytes{0, 1}));
}

TEST(QueryGroups, ByRegionGivesEachRegionOfThePromptItsOwn) {
  const auto groups = QueryGroups::by_region(small_regions());
  EXPECT_EQ(groups.names(), (std::vector<std::string>{"bos", "template", "query", "document 1", "document 2",
                                                      "answer, revealed", "answer, masked", "padding"}));
  EXPECT_EQ(groups.assign({kRow, kPrompt, kMask}), (Bytes{0, 1, 2, 3, 4, 5, 6, 5}));
}

TEST(QueryGroups, MoreThanSixteenAreRefusedWithAWayOut) {
  Regions regions;
  for (int i = 0; i < 14; ++i) {
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
