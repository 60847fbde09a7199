#include "buoy/result/table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "buoy/base/error.h"

namespace buoy {
namespace {

Table small() {
  Table table{"by_layer", "By layer", {{"layer", "number"}, {"share", "of 1"}, {"note", ""}}, {}};
  table.add({std::int64_t{0}, 0.1, std::string("plain")});
  table.add({std::int64_t{10}, number_cell(std::nan("")), std::string("a, \"b\"\nc")});
  return table;
}

TEST(Table, CsvQuotesWhatMustBeAndReadsBackTheSameNumbers) {
  EXPECT_EQ(to_csv(small()), "layer,share,note\n0,0.1,plain\n10,,\"a, \"\"b\"\"\nc\"\n");
  Table third{"t", "", {{"x", ""}}, {}};
  third.add({1.0 / 3});
  EXPECT_EQ(std::stod(to_csv(third).substr(2)), 1.0 / 3);
}

TEST(Table, CsvTextIsNoFormulaAndNumbersStayAsTheyAre) {
  Table table{"t", "", {{"=x", ""}, {"n", ""}}, {}};
  for (const char* text : {"=1+1", "+1", "-1", "@sum", "\tx", "a=b", ""})
    table.add({std::string(text), -1.5});
  EXPECT_EQ(to_csv(table), "'=x,n\n'=1+1,-1.5\n'+1,-1.5\n'-1,-1.5\n'@sum,-1.5\n'\tx,-1.5\na=b,-1.5\n,-1.5\n");
  EXPECT_NE(to_json(table).find("\"=1+1\""), std::string::npos) << "only CSV is opened by spreadsheets";
}

TEST(Table, JsonKeepsOrderAndSaysNullForNothing) {
  EXPECT_EQ(to_json(Table{"t", "T", {{"x", "m"}}, {{Cell{}}, {std::string("\xff")}}}),
            "{\n \"name\": \"t\",\n \"title\": \"T\",\n \"columns\": [\n  {\n   \"name\": \"x\",\n"
            "   \"meaning\": \"m\"\n  }\n ],\n \"rows\": [\n  [\n   null\n  ],\n  [\n   \"\xEF\xBF\xBD\"\n  "
            "]\n ]\n}\n");
}

TEST(Table, TextAlignsNumbersRightAndWordsLeft) {
  Table table{"t", "", {{"name", ""}, {"value", ""}}, {}};
  table.add({std::string("\xC3\xA9"), 12.5});
  table.add({std::string("longer"), Cell{}});
  EXPECT_EQ(to_text(table), "name    value\n\xC3\xA9        12.5\nlonger\n");
}

TEST(Table, ACellTooFewIsABug) {
  Table table = small();
  EXPECT_THROW(table.add({1.0}), InternalError);
  EXPECT_THROW(table.column("shares"), UsageError);
  EXPECT_EQ(table.column("share"), 1u);
}

TEST(Table, StackingTellsRunsApart) {
  const Table both = stack({{"A", small()}, {"B", small()}});
  EXPECT_EQ(both.columns[0].name, "trace");
  ASSERT_EQ(both.rows.size(), 4u);
  EXPECT_EQ(text_of(both.rows[2][0]), "B");
  EXPECT_EQ(number_of(both.rows[2][2]), 0.1);
}

}  // namespace
}  // namespace buoy
