#include "buoy/result/table_view.h"

#include <gtest/gtest.h>

#include <cmath>

#include "buoy/base/error.h"
#include "buoy/result/schema/drift.h"

namespace buoy {
namespace {

const auto& kTable = schema::drift_by_layer;

Table by_layer() {
  Table table = Table::undeclared("drift_by_layer", {{"trace", ""}, {"layer", ""}, {"value", ""}});
  table.rows = {{"a", std::int64_t{0}, 0.5}, {"a", std::int64_t{1}, Cell{}}, {"b", std::int64_t{0}, 2.0}};
  return table;
}

TEST(TableView, FiltersByTheTextOfCells) {
  const std::vector<Table> tables = {by_layer()};
  const auto view = find_table(tables, kTable);
  EXPECT_EQ(view.distinct(schema::trace), (std::vector<std::string>{"a", "b"}));
  const auto rows = view.where({{schema::trace, "a"}, {kTable.layer, "1"}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(std::isnan(rows.number(kTable.value))) << "nothing is no number, and not 0";
  EXPECT_EQ(view.where({{schema::trace, "b"}}).numbers(kTable.value), (std::vector<double>{2.0}));
}

TEST(TableView, ATableThatIsNotThereHasNoRowsAndNoColumns) {
  const auto view = find_table({}, kTable);
  EXPECT_TRUE(view.where({{kTable.view, "thing"}}).empty());
  EXPECT_TRUE(view.numbers(kTable.value).empty());
  EXPECT_EQ(view.text(kTable.value), "");
  const std::vector<Table> tables = {by_layer()};
  EXPECT_THROW(find_table(tables, kTable).numbers(kTable.samples), UsageError)
      << "a column that a file lacks is not an empty answer";
  EXPECT_THROW(find_table(tables, kTable).numbers(schema::drift_summary.value), InternalError)
      << "nor is one of another table";
}

}  // namespace
}  // namespace buoy
