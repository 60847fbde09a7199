#include "buoy/result/csv.h"

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "support/fails_with.h"

namespace buoy {
namespace {

using Cells = std::vector<std::string>;
using testing::fails_with;

TEST(Csv, QuotedCellsHoldCommasQuotesAndLineEnds) {
  const auto records = parse_csv("a,b,c\r\n\"x, \"\"y\"\"\",,\"two\nlines\"\n\nlast,1,2", "t.csv");
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].cells, (Cells{"a", "b", "c"}));
  EXPECT_EQ(records[1].cells, (Cells{"x, \"y\"", "", "two\nlines"}));
  EXPECT_EQ(records[2].cells, (Cells{"last", "1", "2"}));
  EXPECT_EQ(records[2].line, 5u);
  EXPECT_TRUE(parse_csv("", "t.csv").empty());
}

TEST(Csv, SaysWhereItIsBroken) {
  const auto refuses = [](const char* text, std::initializer_list<std::string> words) {
    return fails_with<InputError>([&] { parse_csv(text, "t.csv"); }, words);
  };
  EXPECT_TRUE(refuses("a,b\n1\n", {"t.csv:2", "2 cells", "1"}));
  EXPECT_TRUE(refuses("a\n\"never ends", {"t.csv:2", "a quote at the end", "the end"}));
  EXPECT_TRUE(refuses("a\nb\"c\n", {"t.csv:2", "no quote inside"}));
  EXPECT_TRUE(refuses("\"a\"b\n", {"t.csv:1", "a comma or the end", "\"b\""}));
}

}  // namespace
}  // namespace buoy
