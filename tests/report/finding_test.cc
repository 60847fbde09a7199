// Titles say what the numbers say, and no more.

#include "buoy/report/finding.h"

#include <gtest/gtest.h>

#include <utility>

#include "buoy/claims/claims.h"
#include "buoy/result/schema/drift.h"
#include "claims/claims_support.h"

namespace buoy::report {
namespace {

using claims::table;

constexpr double kMany = static_cast<double>(claims::kFewestSamples), kFew = kMany - 1;
// With plain signs and spaces.
std::string plain(std::string text) {
  for (const auto& [from, to] : {std::pair{"\u00A0", " "}, std::pair{"\u2212", "-"}}) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from))
      text.replace(at, std::string(from).size(), to);
  }
  return text;
}

const Finding kFinding{"Overlap", "Overlap by layer", "chance"};

std::string said(const Finding& finding, const std::vector<Measured>& numbers) {
  return plain(title_of(finding, numbers));
}

TEST(Finding, NoLineEndsInsideANumber) {
  EXPECT_EQ(title_of(kFinding, {{"a", -0.5, -0.6, -0.4, kMany, 0}}),
            "Overlap: \u22120.5\u00A0[\u22120.6,\u00A0\u22120.4] (a)");
}

TEST(Finding, IsSaidWithItsInterval) {
  EXPECT_EQ(said(kFinding, {{"a", 0.5, 0.4, 0.6, kMany, 0}, {"b", 0.25, 0.2, 0.3, kMany}}),
            "Overlap: 0.5 [0.4, 0.6] (a), 0.25 [0.2, 0.3] (b)");
  EXPECT_EQ(said({"Overlap", "", "of random sets", true},
                 {{"a", 0.5, 0.4, 0.6, kMany, 0.125}, {"b", 0.25, 0.2, 0.3, kMany, 0}}),
            "Overlap: 0.5 [0.4, 0.6] against 0.12 of random sets (a), 0.25 [0.2, 0.3] against 0 (b)");
}

TEST(Finding, IsNotSaidOfFewSamplesWithoutAnIntervalOrOfTheNull) {
  const Measured few{"a", 0.5, 0.4, 0.6, kFew, 0}, bare{"a", 0.5, Measured::kNone, Measured::kNone, kMany, 0},
      null{"a", 0.5, 0, 0.9, kMany, 0}, none{"a"};
  for (const auto& number : {few, bare, null, none}) EXPECT_EQ(said(kFinding, {number}), "Overlap by layer");
  EXPECT_EQ(said(kFinding, {}), "Overlap by layer");
  const Measured shown{"b", 1, 0.5, 1.5, kMany, 0};
  EXPECT_EQ(said(kFinding, {few, shown}), "Overlap: 1 [0.5, 1.5] (b)");
  EXPECT_EQ(said(kFinding, {null, shown}), "Overlap: 1 [0.5, 1.5] (b); a cannot be told from chance");
  EXPECT_EQ(said(kFinding, {null, null, null, shown}),
            "Overlap: 1 [0.5, 1.5] (b); the others cannot be told from chance");
}

TEST(Finding, OfManyNamesAFew) {
  std::vector<Measured> numbers;
  for (const char* who : {"a", "b", "c", "d", "e"}) numbers.push_back({who, 1, 1, 1, kMany});
  EXPECT_EQ(said(kFinding, numbers), "Overlap: 1 [1, 1] (a), 1 [1, 1] (b), 1 [1, 1] (c), 2 more");
}

TEST(Finding, CountsLayers) {
  EXPECT_EQ(title_of_parts(kFinding, {{"a", 3, 8, kMany}, {"b", 0, 6, kMany}, {"c", 2, 2, kFew}}),
            "Overlap in 3 of 8 layers (a), 0 of 6 layers (b)");
  EXPECT_EQ(title_of_parts(kFinding, {{"b", 0, 6, kMany}, {"c", 2, 2, kFew}}), "Overlap by layer");
  EXPECT_EQ(title_of_parts(kFinding, {{"a", 1, 4, kMany}}, "heads"), "Overlap in 1 of 4 heads (a)");
}

TEST(Finding, ReadsItsRow) {
  const auto& t = schema::drift_order;
  const Table order = table("drift_order", {"trace", "scalar", "value", "lower", "upper", "samples"},
                            {{"d", "reveal_order", 0.5, 0.25, 0.75, 12.0}});
  const Measured number = measured("d", TableView(order), {t.value, t.samples}, 0);
  EXPECT_EQ(said(kFinding, {number}), "Overlap: 0.5 [0.25, 0.75] (d)");
  EXPECT_EQ(said(kFinding, {measured("d", {}, {t.value, t.samples}, 0)}), "Overlap by layer");
}

std::string counted_of(const std::vector<std::pair<std::string, double>>& samples) {
  std::vector<std::vector<Cell>> rows;
  for (const auto& [trace, count] : samples) rows.push_back({trace, count});
  const Table counts = table("drift_order", {"trace", "samples"}, rows);
  return counted(TableView(counts), {schema::trace, schema::drift_order.samples});
}

TEST(Counted, SaysWhatAFigureRestsOn) {
  EXPECT_EQ(counted_of({{"a", 24}, {"b", 24}}), "n = 24 samples each");
  EXPECT_EQ(counted_of({{"a", 24}, {"a", 24}}), "n = 24 samples");
  EXPECT_EQ(counted_of({{"a", 24}, {"a", 20}, {"b", 7}}), "n = 20 to 24 samples (a), 7 (b)");
  EXPECT_EQ(counted_of({{"a", 1}}), "n = 1 sample");
  EXPECT_EQ(counted_of({{"a", 0}, {"b", 3}}), "n = 3 samples");
  EXPECT_EQ(counted_of({}), "");
}

}  // namespace
}  // namespace buoy::report
