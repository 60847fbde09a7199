// What becomes of figures and sections that cannot be drawn.

#include "buoy/report/drawn_section.h"

#include <gtest/gtest.h>

#include <limits>

#include "buoy/figure/draw/render.h"
#include "buoy/report/drawable.h"
#include "claims/claims_support.h"

namespace buoy::report {
namespace {

using claims::table;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

figure::LineChart chart(std::vector<figure::Series> series) {
  return {"x", "y", std::move(series), {}, {}, {}, {}};
}

TEST(DropEmptyPanels, KeepsWhatHasValuesAndItsReferences) {
  auto lines = chart({{"none", {}, {}, {}, {}}, {"some", {0, 1}, {1, kNan}, {}, {}}});
  lines.references = {{"of none", {0}, {1}, 0}, {"of some", {0, 1}, {1, 1}, 1}, {"grey", {0}, {1}, {}}};
  figure::Figure page;
  page.letters = true;
  page.panels = {{"lines", lines},
                 {"no numbers", chart({{"nan", {0, 1}, {kNan, kNan}, {}, {}}})},
                 {"no series", chart({})},
                 {"no groups", figure::BarChart{}},
                 {"no cells", figure::Heatmap{}},
                 {"no tokens", figure::TokenStrip{}}};
  const auto gone = drop_empty_panels(page);
  ASSERT_EQ(gone.size(), 5u);
  EXPECT_EQ(gone[0], "the panel \"no numbers\" has no values");
  ASSERT_EQ(page.panels.size(), 1u);
  EXPECT_FALSE(page.letters) << "one panel needs no letter";
  const auto& kept = std::get<figure::LineChart>(page.panels[0].content);
  ASSERT_EQ(kept.series.size(), 1u);
  ASSERT_EQ(kept.references.size(), 2u) << "the reference of a curve goes with it";
  EXPECT_EQ(kept.references[0].name, "of some");
  EXPECT_EQ(kept.references[0].of_series, 0u);
  EXPECT_NO_THROW(figure::check_figure(page));
}

// Tables of the flow analysis with one rollout matrix.
std::vector<Table> flow_tables() {
  return {table("flow_rollout",
                {"trace", "forward", "pooling", "all_layers", "from", "to", "flow", "uniform"},
                {{"d", "published", "sum", "yes", "answer", "answer", 0.25, 0.5}})};
}

TEST(DrawnSection, HasEveryFormatInLightAndDark) {
  if (!figure::can_render()) GTEST_SKIP() << "built without Cairo";
  FileNames names;
  const auto drawn = draw_section({"flow", "Region flow", flow_tables()}, {}, names);
  EXPECT_EQ(drawn.left_out, "");
  EXPECT_TRUE(drawn.omissions().empty());
  ASSERT_EQ(drawn.figures.size(), 1u);
  const auto& figure = drawn.figures[0];
  EXPECT_EQ(figure.name, "flow_rollout");
  EXPECT_TRUE(figure.pdf.starts_with("%PDF") && figure.png.find("PNG") == 1);
  EXPECT_NE(figure.svg.find("<svg"), std::string::npos);
  EXPECT_NE(figure.dark_svg.find("<svg"), std::string::npos);
  EXPECT_NE(figure.svg, figure.dark_svg);
}

TEST(DrawnSection, IsLeftOutWithItsReasonWhenItCannotBeBuilt) {
  FileNames names;
  const Table broken = table("flow_rollout", {"trace", "forward"}, {{"d", "published"}});
  const auto drawn = draw_section({"flow", "Region flow", {broken}}, {}, names);
  EXPECT_EQ(drawn.title, "Region flow");
  EXPECT_NE(drawn.left_out.find("flow_rollout: expected a column"), std::string::npos) << drawn.left_out;
  ASSERT_EQ(drawn.omissions().size(), 1u);
  EXPECT_TRUE(drawn.omissions()[0].starts_with("Region flow is left out: ")) << drawn.omissions()[0];
}

TEST(DrawnSection, LeavesOutOneFigureAndKeepsTheOthers) {
  if (!figure::can_render()) GTEST_SKIP() << "built without Cairo";
  // An interval that is upside down cannot be drawn; the bars beside it can.
  const auto scores =
      table("eval_scores",
            {"trace", "model", "set", "axis", "value", "condition", "metric", "mean", "lower", "upper"},
            {{"r", "m", "q", "", "", "closed-book", "exact_match", 0.5, 0.9, 0.1},
             {"s", "m", "q", "", "", "closed-book", "exact_match", 0.5, 0.1, 0.9}});
  FileNames names;
  const auto drawn = draw_section({"evaluation", "Questions and answers", {scores}}, {}, names);
  ASSERT_EQ(drawn.figures.size(), 2u);
  EXPECT_TRUE(drawn.figures[0].svg.empty());
  EXPECT_FALSE(drawn.figures[1].svg.empty());
  ASSERT_FALSE(drawn.figures[0].left_out.empty());
  EXPECT_NE(drawn.figures[0].left_out[0].find("lower <= upper"), std::string::npos);
  EXPECT_TRUE(
      drawn.omissions().at(0).starts_with("Questions and answers: figure eval_scores_r is left out: "));
}

TEST(FileNames, AreSafeAndDifferent) {
  FileNames names;
  EXPECT_EQ(names.add("map_a=b"), "map_a_b");
  EXPECT_EQ(names.add("map_a.b"), "map_a_b_2");
  EXPECT_EQ(names.add("Map_a_b"), "Map_a_b_3") << "some disks do not tell capitals apart";
  EXPECT_EQ(names.add("../x\"><script>"), "___x___script_");
  EXPECT_EQ(names.add(""), "_");
  EXPECT_EQ(names.add(std::string(500, 'x')).size(), 120u);
}

}  // namespace
}  // namespace buoy::report
