#include <gtest/gtest.h>

#include <limits>

#include "buoy/claims/corrected.h"
#include "buoy/result/schema/evaluation.h"
#include "buoy/stats/share.h"
#include "claims/claims_support.h"

namespace buoy::claims {
namespace {

Table ratio_table(double ratio, double lower, double upper, std::int64_t items = 200, double room = 1) {
  Table table = testing::written_table(
      "eval_gain_ratio", {"set", "condition", "metric", "items", "diffusion_gain", "diffusion_lower",
                          "diffusion_upper", "autoregressive_gain", "autoregressive_lower",
                          "autoregressive_upper", "ratio", "lower", "upper", "room"});
  for (const char* metric : {"exact_match", "f1"})
    add_cells(table, {"nq", "passages", metric, items, 0.5, 0.4, 0.6, 0.2, 0.1, 0.3, number_cell(ratio),
                      number_cell(lower), number_cell(upper), room});
  return table;
}

// How exact match depends on the place of the gold passage, and half of the intervals.
struct Places {
  double first = 0, last = 0, spread = 0.02;  // over the middle
  double middle = 0.5;
};

Table middle_table(const Places& places, std::int64_t items = 200) {
  Table table = testing::written_table("eval_middle", {"model",
                                                       "kind",
                                                       "set",
                                                       "positions",
                                                       "items",
                                                       "ends",
                                                       "middle",
                                                       "drop",
                                                       "lower",
                                                       "upper",
                                                       "first",
                                                       "last",
                                                       "first_drop",
                                                       "first_drop_lower",
                                                       "first_drop_upper",
                                                       "last_drop",
                                                       "last_drop_lower",
                                                       "last_drop_upper",
                                                       "trend",
                                                       "trend_lower",
                                                       "trend_upper"});
  const auto add = [&](const char* model, const char* kind, const Places& p) {
    std::vector<Cell> row = {model, kind, "nq", 10, items, p.middle + (p.first + p.last) / 2, p.middle};
    const auto interval = [&](double value) {
      for (const double cell : {value, value - p.spread, value + p.spread}) row.emplace_back(cell);
    };
    interval((p.first + p.last) / 2);
    row.emplace_back(p.middle + p.first);
    row.emplace_back(p.middle + p.last);
    interval(p.first);
    interval(p.last);
    interval((p.last - p.first) * 2 / 3);
    add_cells(table, row);
  };
  add("m", "masked diffusion", places);
  add("l", "autoregressive", {0.4, 0.4, 0.05});
  return table;
}

ClaimVerdict judged(const std::string& id, const std::vector<Table>& tables) {
  return claim_of(id, tables, {});
}

TEST(GainClaim, RestsOnWhereTheIntervalOfTheRatioLies) {
  EXPECT_EQ(judged("C7", {ratio_table(2.5, 2.2, 3.0)}).verdict, Verdict::kSupported);
  EXPECT_EQ(judged("C7", {ratio_table(2.5, 2.05, 3.0)}).verdict, Verdict::kUndecided) << "inside the margin";
  EXPECT_EQ(judged("C7", {ratio_table(1.7, 1.4, 1.95)}).verdict, Verdict::kUndecided) << "inside the margin";
  EXPECT_EQ(judged("C7", {ratio_table(2, 1.95, 2.05)}).verdict, Verdict::kNoDifference);
  EXPECT_EQ(judged("C7", {ratio_table(2.5, 1.9, 3.0)}).verdict, Verdict::kUndecided);
  EXPECT_EQ(judged("C7", {ratio_table(3.0, 2.5, 3.5, 9)}).verdict, Verdict::kUndecided);
  EXPECT_EQ(judged("C7", {ratio_table(1.2, 0.9, 1.6)}).verdict, Verdict::kContradicted);
  const double none = std::numeric_limits<double>::quiet_NaN();
  const auto undefined = judged("C7", {ratio_table(none, none, none)});
  EXPECT_EQ(undefined.verdict, Verdict::kNotTestable);
  EXPECT_NE(undefined.needs.find("not zero"), std::string::npos) << undefined.needs;
}

// The autoregressive gain is 0.2: a ratio of 2 needs room for 0.4.
TEST(GainClaim, IsNotTestableWithoutRoomForTwiceTheOtherGain) {
  const auto none = judged("C7", {ratio_table(1.2, 0.9, 1.6, 200, 0.39)});
  EXPECT_EQ(none.verdict, Verdict::kNotTestable);
  EXPECT_TRUE(says(none.needs, "no room on nq, passages: 2 times the autoregressive gain is 0.4"))
      << none.needs;
  EXPECT_TRUE(says(none.needs, "no more than 0.39")) << none.needs;
  EXPECT_EQ(judged("C7", {ratio_table(1.2, 0.9, 1.6, 200, 0.41)}).verdict, Verdict::kContradicted);
}

TEST(MiddleClaim, IsAboutMaskedDiffusionAndNamesTheOthersBesideIt) {
  const auto claim = judged("C9", {middle_table({})});
  EXPECT_EQ(claim.verdict, Verdict::kSupported);
  ASSERT_EQ(claim.by_trace.size(), 1u);
  EXPECT_NE(claim.evidence.find("Beside it, l on nq"), std::string::npos) << claim.evidence;
  EXPECT_EQ(judged("C9", {middle_table({0.05, 0.05, 0.05})}).verdict, Verdict::kUndecided);
}

TEST(MiddleClaim, SaysInItsHeadlineThatAllIsAnsweredAnyway) {
  EXPECT_EQ(judged("C9", {middle_table({})}).remark, "");
  EXPECT_EQ(judged("C9", {middle_table({0, 0, 0.02, 1})}).remark,
            "This is at the ceiling: m answers every question, wherever the passage stands. Harder questions "
            "were not asked.");
  EXPECT_EQ(judged("C9", {middle_table({0.02, 0, 0.02, 0.96})}).remark,
            "This is at the ceiling: m answers at least 0.96 of the questions, wherever the passage stands. "
            "Harder questions were not asked.");
  EXPECT_EQ(judged("C9", {middle_table({0, 0, 0.02, 0.94})}).remark, "") << "there is room";
}

TEST(MiddleClaim, FindsABiasTowardsOneEndThatBothEndsTogetherHide) {
  const auto falling = judged("C9", {middle_table({0.4, -0.4})});
  EXPECT_EQ(falling.verdict, Verdict::kMixed);
  EXPECT_EQ(falling.parts, "2 for, 2 against") << "the first place and the straight line";
  EXPECT_TRUE(says(falling.evidence, "late minus early -0.533 [-0.553, -0.513] (beyond the margin)"))
      << falling.evidence;
  EXPECT_EQ(judged("C9", {middle_table({-0.4, 0.4})}).parts, "2 for, 2 against");
  EXPECT_EQ(judged("C9", {middle_table({0, 0})}).parts, "4 for");
  // Better at both ends alike: lost in the middle, and no straight line.
  const auto lost = judged("C9", {middle_table({0.4, 0.4})});
  EXPECT_EQ(lost.parts, "1 for, 3 against");
  EXPECT_EQ(lost.verdict, Verdict::kContradicted);
}

// How far the difference of two conditions may be from zero when so many items are all right in both.
double spread_of_none(std::size_t items) {
  const std::vector<double> right(items, 1.0);
  return stats::difference_estimate({right, right}, {}).upper;
}

TEST(MiddleClaim, FewItemsThatAllAgreeDecideNothing) {
  const auto verdict = [](std::int64_t items) {
    const double spread = spread_of_none(static_cast<std::size_t>(items));
    return judged("C9", {middle_table({0, 0, spread}, items)}).verdict;
  };
  EXPECT_EQ(verdict(16), Verdict::kUndecided);
  EXPECT_EQ(verdict(500), Verdict::kSupported);
}

TEST(FewestItems, AreThoseOnWhichNoneThatDifferIsWithinTheMargin) {
  const double margin = rules::kMiddleDrop.margin;
  const auto fewest = fewest_items(margin, 4);
  const auto supported = [](std::int64_t items) {
    const double spread = spread_of_none(static_cast<std::size_t>(items));
    return judged("C9", {middle_table({0, 0, spread}, items)}).verdict == Verdict::kSupported;
  };
  EXPECT_TRUE(supported(fewest));
  EXPECT_FALSE(supported(fewest - 1));
}

struct Drop {
  double random, structural, spread;  // differences of exact match to these, and half of the interval
};

// Of a masked-diffusion model, and of an autoregressive one beside it.
Table columns_table(const std::vector<Drop>& thirds, std::int64_t items = 200,
                    const std::vector<Drop>& beside = {{0, 0, 0.02}}) {
  Table table =
      testing::written_table("eval_columns", {"model", "kind", "set", "third", "against", "items", "seen",
                                              "floating", "others", "difference", "lower", "upper"});
  const char* const names[] = {"shallow", "middle", "deep"};
  for (const bool masked : {true, false}) {
    const auto& drops = masked ? thirds : beside;
    for (std::size_t t = 0; t < drops.size(); ++t) {
      const auto add = [&](const char* against, double difference) {
        add_cells(table, {masked ? "m" : "l", masked ? "masked diffusion" : "autoregressive", "nq", names[t],
                          against, items, 0.9, 0.9 + difference, 0.9, difference,
                          difference - drops[t].spread, difference + drops[t].spread});
      };
      add("random", drops[t].random);
      add("structural", drops[t].structural);
    }
  }
  return table;
}

// A network that answers nothing is as good at all places, and loses nothing whatever is hidden.
TEST(ClaimsOnDrops, AreNotTestableWhereThereIsNothingToLose) {
  Table places = middle_table({0, 0, 0.02}), columns = columns_table({{0, 0, 0.02}});
  EXPECT_EQ(judged("C9", {places}).verdict, Verdict::kSupported);
  EXPECT_EQ(judged("C10", {columns}).verdict, Verdict::kNoDifference);
  for (const auto* column : {&schema::eval_middle.ends, &schema::eval_middle.middle})
    places.rows[0][places.column(*column)] = 0.02;
  for (auto& row : columns.rows) row[columns.column(schema::eval_columns.seen)] = 0.02;
  for (const auto& claim : {judged("C9", {places}), judged("C10", {columns})}) {
    EXPECT_EQ(claim.verdict, Verdict::kNotTestable) << claim.evidence;
    EXPECT_TRUE(says(claim.needs, "exact match of 0.1 or more")) << claim.needs;
    for (const auto& number : claim.quantities)
      EXPECT_FALSE(number.network.masked_diffusion) << "no number of it counts among networks";
  }
}

TEST(CauseClaim, NeedsAThirdInWhichFloatingColumnsMatterMoreThanBothOthers) {
  const Drop none{0, 0, 0.02}, much{-0.3, -0.3, 0.1}, like_structure{-0.3, 0, 0.02},
      unsure{-0.05, -0.05, 0.1};
  EXPECT_EQ(judged("C10", {columns_table({none, much, none})}).verdict, Verdict::kSupported);
  EXPECT_EQ(judged("C10", {columns_table({none, much, none}, 9)}).verdict, Verdict::kUndecided);
  EXPECT_EQ(judged("C10", {columns_table({none, none, none})}).verdict, Verdict::kNoDifference);
  EXPECT_EQ(judged("C10", {columns_table({none, like_structure, none})}).verdict, Verdict::kNoDifference);
  EXPECT_EQ(judged("C10", {columns_table({none, {0.3, 0.3, 0.1}, none})}).verdict, Verdict::kContradicted);
  EXPECT_EQ(judged("C10", {columns_table({none, unsure, none})}).verdict, Verdict::kUndecided);
}

TEST(CauseClaim, WhatMattersToAnAutoregressiveModelTooDecidesNothing) {
  const Drop none{0, 0, 0.02}, much{-0.3, -0.3, 0.1};
  const auto shared = judged("C10", {columns_table({none, much, none}, 200, {none, much, none})});
  EXPECT_EQ(shared.verdict, Verdict::kMixed);
  EXPECT_TRUE(says(shared.evidence, "matter to the autoregressive model too")) << shared.evidence;
  EXPECT_EQ(judged("C10", {columns_table({none, much, none}, 200, {none, none, much})}).verdict,
            Verdict::kMixed)
      << "in other layers";
  EXPECT_EQ(judged("C10", {columns_table({none, none, none}, 200, {none, much, none})}).verdict,
            Verdict::kNoDifference);
}

TEST(CauseClaim, IsAboutMaskedDiffusionAndSaysWhatItNeeds) {
  const auto claim = judged("C10", {columns_table({{0, 0, 0.02}, {0, 0, 0.02}, {0, 0, 0.02}})});
  ASSERT_EQ(claim.by_trace.size(), 1u);
  EXPECT_EQ(claim.by_trace[0].trace, "m on nq");
  EXPECT_TRUE(says(claim.evidence, "Beside it, l: shallow third")) << claim.evidence;
  const auto nothing = judged("C10", {});
  EXPECT_EQ(nothing.verdict, Verdict::kNotTestable);
  EXPECT_TRUE(says(nothing.needs, "`columns_from`")) << nothing.needs;
}

TEST(CauseClaim, FewItemsThatAllAgreeDecideNothing) {
  const auto verdict = [](std::int64_t items) {
    const Drop same{0, 0, spread_of_none(static_cast<std::size_t>(items))};
    return judged("C10", {columns_table({same, same, same}, items)}).verdict;
  };
  EXPECT_EQ(verdict(24), Verdict::kUndecided);
  EXPECT_EQ(verdict(500), Verdict::kNoDifference);
}

}  // namespace
}  // namespace buoy::claims
