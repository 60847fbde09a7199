#include "report/table_view.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "report/html.h"
#include "report/section.h"
#include "report/sections.h"

namespace buoy::report {
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

TEST(Html, EscapesWhatWouldBeMarkup) {
  EXPECT_EQ(escape_html("<b a=\"1\">&'\xff"), "&lt;b a=&quot;1&quot;&gt;&amp;&#39;\xEF\xBF\xBD");
  Table table = by_layer();
  table.title = "<script>";
  EXPECT_EQ(table_html(table, 2, "f").find("<script>"), std::string::npos);
  EXPECT_NE(table_html(table, 2, "f").find("1 more rows"), std::string::npos);
}

TEST(Sections, OfNoTablesSayNothingAndDoNotFail) {
  for (const char* name : {"floating", "drift", "absorption", "qk", "retrieval", "flow", "structure"}) {
    const Section section = build_section(name, {});
    EXPECT_EQ(section.name, name);
    EXPECT_FALSE(section.title.empty());
  }
  EXPECT_THROW(build_section("drfit", {}), UsageError);
}

TEST(WithInterval, NumbersWithoutAnIntervalStandAlone) {
  EXPECT_EQ(with_interval(1.2345, 1, 2), "1.23 [1, 2]");
  EXPECT_EQ(with_interval(1.2345, NAN, NAN), "1.23");
  EXPECT_EQ(with_interval(NAN, 1, 2), "not defined");
}

}  // namespace
}  // namespace buoy::report
