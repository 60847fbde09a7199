#include "buoy/report/html.h"

#include <gtest/gtest.h>

#include <cmath>

#include "buoy/base/error.h"
#include "buoy/report/section.h"
#include "buoy/report/sections.h"

namespace buoy::report {
namespace {

TEST(Html, EscapesWhatWouldBeMarkup) {
  EXPECT_EQ(escape_html("<b a=\"1\">&'\xff"), "&lt;b a=&quot;1&quot;&gt;&amp;&#39;\xEF\xBF\xBD");
  Table table = Table::undeclared("t", {{"value", ""}});
  table.title = "<script>";
  for (int row = 0; row < 3; ++row) table.rows.push_back({std::int64_t{row}});
  EXPECT_EQ(table_html(table, 2, "f").find("<script>"), std::string::npos);
  EXPECT_NE(table_html(table, 2, "f").find("1 more rows"), std::string::npos);
}

TEST(Html, FieldsOfASentenceAreCode) {
  EXPECT_EQ(prose_html("again with qk among `observe` & `no_final`"),
            "again with qk among <code>observe</code> &amp; <code>no_final</code>");
  EXPECT_EQ(prose_html("Most often: \"`\", \"`\"; `"), "Most often: &quot;`&quot;, &quot;`&quot;; `");
  EXPECT_EQ(prose_html("`` `<b>`"), "`` `&lt;b&gt;`");
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
