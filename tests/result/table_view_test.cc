#include "buoy/result/table_view.h"

#include <gtest/gtest.h>

#include <cmath>

#include "buoy/base/error.h"

namespace buoy {
namespace {

Table by_layer() {
  Table table{"t", "T", {{"trace", ""}, {"layer", ""}, {"value", ""}}, {}};
  table.add({std::string("a"), std::int64_t{0}, 0.5});
  table.add({std::string("a"), std::int64_t{1}, Cell{}});
  table.add({std::string("b"), std::int64_t{0}, 2.0});
  return table;
}

TEST(TableView, FiltersByTheTextOfCells) {
  const std::vector<Table> tables = {by_layer()};
  const auto view = find_table(tables, "t");
  EXPECT_EQ(view.distinct("trace"), (std::vector<std::string>{"a", "b"}));
  const auto rows = view.where({{"trace", "a"}, {"layer", "1"}});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(std::isnan(rows.number("value"))) << "nothing is no number, and not 0";
  EXPECT_EQ(view.where({{"trace", "b"}}).numbers("value"), (std::vector<double>{2.0}));
}

TEST(TableView, ATableThatIsNotThereHasNoRowsAndNoColumns) {
  const auto view = find_table({}, "t");
  EXPECT_TRUE(view.where({{"any", "thing"}}).empty());
  EXPECT_TRUE(view.numbers("value").empty());
  EXPECT_EQ(view.text("value"), "");
  const std::vector<Table> tables = {by_layer()};
  EXPECT_THROW(find_table(tables, "t").numbers("valu"), UsageError)
      << "a typing mistake is not an empty answer";
}

}  // namespace
}  // namespace buoy
