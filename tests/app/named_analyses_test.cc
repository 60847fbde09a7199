// Analyses that are made where they are named: a study's report has them then and only then, from states as
// from arrays; bad settings are refused by their flags.

#include <gtest/gtest.h>

#include <algorithm>

#include "app/pair.h"
#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/study/study.h"
#include "support/temp_folder.h"

namespace buoy::testing {
namespace {

std::string small_study(const std::string& observe, const std::string& report) {
  const auto models = pair_folder(true).parent_path().string();
  return "title = \"named\"\n[models]\ndiffusion = \"" + models +
         "/planted-diffusion\"\n[decoding]\nmax_new_tokens = 4\n[prompt]\nwith_passages = \"" + models +
         "/planted.prompt\"\nchat = \"never\"\n[controls]\nuntrained = 0\n[report]\n" + report + R"(
[[data]]
name = "unknown"
world = { people = "unknown", passages = 2, count = 2 }
[[trace]]
name = "attention"
data = "unknown"
groups = "regions"
observe = ")" +
         observe + "\"\n";
}

TEST(NamedAnalyses, AreInTheReportThatNamesThem) {
  if (!study::can_read_studies()) GTEST_SKIP() << "built without toml++";
  const TempFolder folder;
  const auto named = folder.write(
      "named.toml", small_study("all,head-norms,kv-drift,dense-mean",
                                R"(analyses = ["sinks", "heads", "steps", "kvdrift", "rollout"])"));
  const auto result = run_buoy({"study", named, "--out", folder / "named"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string page = read_file(folder / "named/report/report.html");
  for (const char* name : {"sinks", "heads", "steps", "kvdrift", "rollout"}) {
    EXPECT_NE(page.find("<h2 id=\"" + std::string(name) + "\">"), std::string::npos) << name;
    const std::string table =
        read_file(folder / ("named/report/tables/" + std::string(name) + "_by_layer.csv"));
    EXPECT_GT(std::count(table.begin(), table.end(), '\n'), 4) << name;
  }
  const std::string heads = read_file(folder / "named/report/tables/heads_by_layer.csv");
  EXPECT_NE(heads.find("dormant"), std::string::npos) << "head-norms was observed";
  EXPECT_EQ(page.find("<h2 id=\"floating\">"), std::string::npos);

  // What is observed decides about those of arrays that "all" lacks; the others are not asked for.
  const auto plain = folder.write("plain.toml", small_study("all,kv-drift", ""));
  ASSERT_EQ(run_buoy({"study", plain, "--out", folder / "plain"}).exit_code, 0);
  const std::string usual = read_file(folder / "plain/report/report.html");
  EXPECT_NE(usual.find("<h2 id=\"kvdrift\">"), std::string::npos);
  for (const char* name : {"sinks", "heads", "steps", "rollout"})
    EXPECT_EQ(usual.find("<h2 id=\"" + std::string(name) + "\">"), std::string::npos) << name;
}

TEST(NamedAnalyses, RefuseSettingsByTheirFlags) {
  const TempFolder folder;
  trace_pair(folder / "trace", {.count = 1, .passages = 2, .more = {"--observe", "received"}});
  const auto with = [&](const std::string& name, const std::string& flag, const std::string& value) {
    return run_buoy({"analyze", name, folder / "trace", "--out", folder / "out", flag, value});
  };
  for (const char* share : {"0", "1", "1.5"}) {
    const auto refused = with("sinks", "--sink-share", share);
    EXPECT_NE(refused.exit_code, 0) << share;
    EXPECT_NE(refused.err.find("--sink-share"), std::string::npos) << refused.err;
  }
  const auto many = with("steps", "--recall-keys", "100000");
  EXPECT_NE(many.exit_code, 0);
  EXPECT_NE(many.err.find("--recall-keys"), std::string::npos) << many.err;
  EXPECT_NE(many.err.find("100000"), std::string::npos) << many.err;
  EXPECT_NE(with("steps", "--recall-keys", "0").exit_code, 0);
  const auto lacking = run_buoy({"analyze", "kvdrift", folder / "trace", "--out", folder / "out"});
  EXPECT_NE(lacking.exit_code, 0);
  EXPECT_NE(lacking.err.find("kv-drift"), std::string::npos) << lacking.err;
}

}  // namespace
}  // namespace buoy::testing
