// The whole page, from small tables.

#include "buoy/report/page.h"

#include <gtest/gtest.h>

#include "buoy/base/file/files.h"
#include "buoy/claims/sentences.h"
#include "buoy/figure/draw/render.h"
#include "claims/claims_support.h"
#include "support/temp_folder.h"

namespace buoy::report {
namespace {

using claims::table;

using testing::TempFolder;

ReportInput input_of(std::vector<AnalysedTables> analyses) {
  ReportInput input;
  input.analyses = std::move(analyses);
  return input;
}

Table rollout(const std::string& trace) {
  return table("flow_rollout", {"trace", "forward", "pooling", "all_layers", "from", "to", "flow", "uniform"},
               {{trace, "published", "sum", "yes", "answer", "answer", 0.25, 0.5}});
}

TEST(Page, HasTheTitleItIsGiven) {
  const TempFolder folder;
  auto input = input_of({});
  write_report(input, folder / "a");
  EXPECT_NE(read_file(folder / "a/report.html").find("<title>Where attention floats</title>"),
            std::string::npos);
  input.title = "Sinks & <floats>";
  write_report(input, folder / "b");
  const std::string page = read_file(folder / "b/report.html");
  EXPECT_NE(page.find("<title>Sinks &amp; &lt;floats&gt;</title>"), std::string::npos);
  EXPECT_NE(page.find("<h1>Sinks &amp; &lt;floats&gt;</h1>"), std::string::npos);
  EXPECT_EQ(page.find("Where attention floats"), std::string::npos);
}

TEST(Page, IsWrittenWithoutTheSectionThatCannotBeDrawn) {
  const TempFolder folder;
  const Table broken = table("qk_by_layer", {"trace", "layer"}, {{"d", 0.0}});
  const auto written =
      write_report(input_of({{"qk", "QK decomposition", {broken}}, {"flow", "Region flow", {rollout("d")}}}),
                   folder / "r");
  const std::string page = read_file(folder / "r/report.html");
  EXPECT_NE(
      page.find("<h2 id=\"qk\">QK decomposition</h2>\n<p class=\"left-out\">QK decomposition is left out: "),
      std::string::npos);
  EXPECT_NE(page.find("<h2 id=\"flow\">"), std::string::npos);
  EXPECT_TRUE(path_exists(folder / "r/tables/qk_by_layer.csv")) << "its tables are there all the same";
  ASSERT_FALSE(written.left_out.empty());
  EXPECT_TRUE(written.left_out[0].starts_with("QK decomposition is left out: ")) << written.left_out[0];
  // A claim that reads the broken table is not judged; the others are.
  const std::string claims = read_file(folder / "r/tables/claims.csv");
  EXPECT_NE(claims.find("C5,overall,"), std::string::npos);
  EXPECT_NE(claims.find("C10,overall,"), std::string::npos);
}

TEST(Page, SaysOfEveryClaimWhatItSaysOfTheseModelsAndOfKindsAndByWhichRules) {
  const TempFolder folder;
  ReportInput input = input_of({});
  input.traces.push_back({.kind = {"d", true, 20}, .facts = {}, .model = "m"});
  write_report(input, folder / "r");
  const std::string page = read_file(folder / "r/report.html");
  EXPECT_NE(page.find("<code>" + claims::rules_hash() + "</code>"), std::string::npos);
  EXPECT_NE(page.find("<dt>Quantities</dt><dd>6 lacking</dd>"), std::string::npos) << "of C2";
  EXPECT_NE(page.find("About kinds of models nothing can be said: too few networks (1 per arm; from 5 on)."),
            std::string::npos);
  for (const auto& words : claims::claim_words())
    EXPECT_NE(page.find(std::string("<b>") + words.topic + ".</b>"), std::string::npos) << words.topic;
}

TEST(Page, ShowsEveryFigureInTheReadersColours) {
  if (!figure::can_render()) GTEST_SKIP() << "built without Cairo";
  const TempFolder folder;
  write_report(input_of({{"flow", "Region flow", {rollout("d")}}}), folder / "r");
  const std::string page = read_file(folder / "r/report.html");
  EXPECT_NE(
      page.find(
          "<source media=\"screen and (prefers-color-scheme: dark)\" srcset=\"data:image/svg+xml;base64,"),
      std::string::npos);
  EXPECT_EQ(page.find("background: #fff; }"), std::string::npos) << "no white slab behind figures";
}

TEST(Page, LabelsBecomeFilesAndMarkupOfNobodyElse) {
  if (!figure::can_render()) GTEST_SKIP() << "built without Cairo";
  const TempFolder folder;
  const auto scores = [](const std::string& run) {
    return std::vector<Cell>{run, "m", "q", "", "", "closed-book", "exact_match", 0.5, 0.1, 0.9};
  };
  const auto all =
      table("eval_scores",
            {"trace", "model", "set", "axis", "value", "condition", "metric", "mean", "lower", "upper"},
            {scores("a=b"), scores("a_b"), scores("../\"><script>alert(1)</script>")});
  const auto written = write_report(input_of({{"evaluation", "Questions and answers", {all}}}), folder / "r");
  EXPECT_EQ(written.figures, 3u);
  EXPECT_TRUE(path_exists(folder / "r/figures/eval_scores_a_b.svg"));
  EXPECT_TRUE(path_exists(folder / "r/figures/eval_scores_a_b_2.svg")) << "no figure takes another's place";
  EXPECT_EQ(read_file(folder / "r/report.html").find("<script>alert"), std::string::npos);
}

TEST(Notices, SayTheSameOnceAndTogether) {
  Notices notices;
  notices.leave_out("Floating tokens", "y", "sample 3: expected 10 bytes, found 9");
  notices.leave_out("Temporal drift", "y", "sample 3: expected 10 bytes, found 9");
  notices.add("y", "not verified (`trust`).");
  notices.leave_out("QK decomposition", "y", "no norms");
  notices.leave_out("Absorption", "y", "sample 3: expected 10 bytes, found 9");
  notices.leave_out("Absorption", "", "out of memory");
  notices.add("y", "not verified (`trust`).");
  EXPECT_EQ(
      notices.lines(),
      (std::vector<std::string>{
          "Floating tokens, Temporal drift and Absorption are left out for y: sample 3: expected 10 bytes, "
          "found 9",
          "y: not verified (`trust`).", "QK decomposition is left out for y: no norms",
          "Absorption is left out: out of memory"}));
  const TempFolder folder;
  ReportInput input;
  input.notices = notices;
  write_report(input, folder / "r");
  const std::string page = read_file(folder / "r/report.html");
  EXPECT_NE(page.find("<div class=\"notes\"><p>Floating tokens, Temporal drift"), std::string::npos);
}

}  // namespace
}  // namespace buoy::report
