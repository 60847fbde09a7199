#include "buoy/result/table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "buoy/base/error.h"
#include "buoy/result/schema/search.h"

namespace buoy {
namespace {

Table small() {
  Table table = Table::undeclared("by_layer", {{"layer", "number"}, {"share", "of 1"}, {"note", ""}});
  table.rows = {{std::int64_t{0}, 0.1, "plain"},
                {std::int64_t{10}, number_cell(std::nan("")), "a, \"b\"\nc"}};
  return table;
}

TEST(Table, CsvQuotesWhatMustBeAndReadsBackTheSameNumbers) {
  EXPECT_EQ(to_csv(small()), "layer,share,note\n0,0.1,plain\n10,,\"a, \"\"b\"\"\nc\"\n");
  Table third = Table::undeclared("t", {{"x", ""}});
  third.rows = {{1.0 / 3}};
  EXPECT_EQ(std::stod(to_csv(third).substr(2)), 1.0 / 3);
}

TEST(Table, CsvTextIsNoFormulaAndNumbersStayAsTheyAre) {
  Table table = Table::undeclared("t", {{"=x", ""}, {"n", ""}});
  for (const char* text : {"=1+1", "+1", "-1", "@sum", "\tx", "a=b", ""})
    table.rows.push_back({std::string(text), -1.5});
  EXPECT_EQ(to_csv(table), "'=x,n\n'=1+1,-1.5\n'+1,-1.5\n'-1,-1.5\n'@sum,-1.5\n'\tx,-1.5\na=b,-1.5\n,-1.5\n");
  EXPECT_NE(to_json(table).find("\"=1+1\""), std::string::npos) << "only CSV is opened by spreadsheets";
}

TEST(Table, JsonKeepsOrderAndSaysNullForNothing) {
  Table table = Table::undeclared("t", {{"x", "m"}});
  table.title = "T";
  table.rows = {{Cell{}}, {std::string("\xff")}};
  EXPECT_EQ(to_json(table),
            "{\n \"name\": \"t\",\n \"title\": \"T\",\n \"columns\": [\n  {\n   \"name\": \"x\",\n"
            "   \"meaning\": \"m\"\n  }\n ],\n \"rows\": [\n  [\n   null\n  ],\n  [\n   \"\xEF\xBF\xBD\"\n  "
            "]\n ]\n}\n");
}

TEST(Table, TextAlignsNumbersRightAndWordsLeft) {
  Table table = Table::undeclared("t", {{"name", ""}, {"value", ""}});
  table.rows = {{"\xC3\xA9", 12.5}, {"longer", Cell{}}};
  EXPECT_EQ(to_text(table), "name    value\n\xC3\xA9        12.5\nlonger\n");
}

// A text of several lines stays in its row.
TEST(Table, TextKeepsEveryRowOnOneLine) {
  Table table = Table::undeclared("t", {{"name", ""}, {"value", ""}});
  table.rows = {{std::string("a\n\tb"), std::int64_t{1}}};
  EXPECT_EQ(to_text(table), "name    value\na\\n\\tb      1\n");
}

// What a test declares as producers do.
struct Fruit : TableSchema {
  constexpr Fruit() : TableSchema({schema::kSearch, "fruit", "Fruit of a tree"}) {}
  Axis tree{*this, {"tree", "number", "from 0"}};
  NamedInterval weight{*this, {"weight", "kg", "mean over fruit"}, {"lower end", "upper end"}};
  Interval sugar{*this, {"sugar", "percent", "mean over fruit"}, {"lower end", "upper end"}};
  Value note{*this, {"note", "text", "what was seen"}};
};
constexpr Fruit kFruit;
constexpr struct Stone : TableSchema {
  constexpr Stone() : TableSchema({schema::kSearch, "stone", ""}) {}
  Axis tree{*this, {"tree", "number", ""}};
} kStone;

TEST(Table, HasTheDeclaredColumnsInTheirOrder) {
  const auto& t = kFruit;
  Table table(t);
  table.add({{t.tree, std::int64_t{3}},
             {t.weight, IntervalCells{1.5, 1, 2}},
             {t.sugar, IntervalCells{.value = 8}},
             {t.note, "sweet"}});
  EXPECT_EQ(to_csv(table),
            "tree,weight,weight_lower,weight_upper,sugar,lower,upper,note\n3,1.5,1,2,8,,,sweet\n");
  EXPECT_EQ(table.title, "Fruit of a tree");
  EXPECT_EQ(table.columns[1].meaning, "mean over fruit");
  EXPECT_EQ(table.columns[table.column(t.weight.lower)].meaning, "lower end");
  table.explain(t.note, "what was seen at noon");
  EXPECT_EQ(table.columns.back().meaning, "what was seen at noon");
}

TEST(Table, ARowThatIsNotThatOfTheSchemaIsABug) {
  const auto& t = kFruit;
  Table table(t);
  const IntervalCells any{1, 0, 2};
  EXPECT_THROW(table.add({{t.tree, 1.0}}), InternalError) << "columns are lacking";
  EXPECT_THROW(table.add({{t.tree, 1.0}, {t.sugar, any}, {t.weight, any}, {t.note, ""}}), InternalError)
      << "another order";
  EXPECT_THROW(table.add({{t.tree, 1.0}, {t.weight, any}, {t.sugar, 1.0}, {t.note, ""}}), InternalError)
      << "an interval without its ends";
  EXPECT_THROW(table.add({{t.tree, 1.0}, {t.weight, any}, {t.sugar, any}, {t.note, ""}, {t.note, ""}}),
               InternalError)
      << "a cell too many";
  EXPECT_TRUE(table.rows.empty());
}

TEST(Table, AColumnOfAnotherTableIsABugAndOneThatAFileLacksIsSaid) {
  EXPECT_THROW(Table(kFruit).column(kStone.tree), InternalError);
  const Table old = Table::undeclared("fruit", {{"tree", ""}});
  EXPECT_EQ(old.column(kFruit.tree), 0u);
  EXPECT_THROW(old.column(kFruit.note), UsageError);
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
