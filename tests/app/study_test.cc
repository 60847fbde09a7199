#include <gtest/gtest.h>

#include "app/pair.h"
#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/study/study.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy::testing {
namespace {

// Two models, five questions, every kind of step.
std::string small_study(const std::string& questions) {
  const auto models = pair_folder(true).parent_path().string();
  return "title = \"small\"\n[models]\ndiffusion = \"" + pair_folder(true).string() +
         "\"\nautoregressive = \"" + pair_folder(false).string() +
         "\"\n[decoding]\nmax_new_tokens = 4\n[prompt]\nwith_passages = \"" + models +
         "/planted.prompt\"\n[[data]]\nname = \"q\"\nworld = { passages = 2, count = " + questions +
         " }\n[[trace]]\nname = \"t\"\ndata = \"q\"\nlimit = 2\nobserve = \"received,top,row-mass\"\n"
         "[[evaluate]]\nname = \"gain\"\ndata = \"q\"\nclosed_book = true\npassages = 2\n"
         "[[evaluate]]\nname = \"heads\"\ndata = \"q\"\nheads = { trace = \"t\", share = 0.1, controls = 1 "
         "}\n"
         "[report]\nanalyses = [\"floating\", \"retrieval\"]\n";
}

class StudyCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!study::can_read_studies()) GTEST_SKIP() << "built without toml++";
  }
  TempFolder folder_;
};

TEST_F(StudyCommand, MakesEverythingOnceAndGoesOnWhereItWas) {
  const auto file = folder_.write("small.toml", small_study("5"));
  const std::string out = folder_ / "out";
  const auto first = run_buoy({"study", file, "--out", out, "--timing"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_TRUE(testing::holds_in_order(
      first.err, {"loading ", " s, decoding ", " s, writing ", " s, report ", " s in all\n"}));
  for (const char* name :
       {"data/q.jsonl", "traces/t.diffusion/manifest.json", "traces/t.autoregressive/manifest.json",
        "evaluate/gain/answers.jsonl", "evaluate/gain/summary.csv", "evaluate/heads/summary.json",
        "report/report.html", "report/tables/eval_effects.csv", "report/tables/claims.csv"})
    EXPECT_TRUE(path_exists(folder_ / "out" / name)) << name;
  const std::string page = read_file(folder_ / "out/report/report.html");
  EXPECT_NE(page.find("Questions and answers"), std::string::npos);
  EXPECT_NE(page.find("Retrieval heads"), std::string::npos);
  EXPECT_EQ(page.find("<h2 id=\"drift\">"), std::string::npos);

  const std::string answers = read_file(folder_ / "out/evaluate/gain/answers.jsonl");
  std::filesystem::remove_all(folder_ / "out/evaluate/heads");
  const auto second = run_buoy({"study", file, "--out", out});
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_NE(second.out.find("asked 0 in"), std::string::npos) << second.out;
  EXPECT_EQ(read_file(folder_ / "out/evaluate/gain/answers.jsonl"), answers);
  EXPECT_TRUE(path_exists(folder_ / "out/evaluate/heads/answers.jsonl"));

  const auto other = folder_.write("small.toml", small_study("6"));
  const auto third = run_buoy({"study", other, "--out", out});
  EXPECT_EQ(third.exit_code, 3);
  EXPECT_TRUE(holds_in_order(third.err, {"evaluate/gain/run.json", "data.q.items", "5 there, 6 now"}));
}

TEST_F(StudyCommand, ComparesTasksAndKeepsTheirTracesOutOfOtherAnalyses) {
  std::string study = "[models]\ndiffusion = \"" + pair_folder(true).string() +
                      "\"\n[decoding]\nmax_new_tokens = 2\n" + "[prompt]\nwith_passages = \"" +
                      (pair_folder(true).parent_path() / "planted.prompt").string() + "\"\n";
  for (const std::string name : {"one", "two", "three"}) {
    study += "[[data]]\nname = \"" + name +
             "\"\nworld = { passages = 2, count = 2, seed = " + std::to_string(name.size()) +
             (name == "two" ? ", two_hop = true }\n" : " }\n") + "[[trace]]\nname = \"" + name +
             "\"\ndata = \"" + name + "\"\nobserve = \"received\"\n" +
             (name == "one" ? "" : "tasks_only = true\n");
  }
  const auto file = folder_.write(
      "tasks.toml", study + "[report]\nanalyses = [\"absorption\", \"structure\", \"tasks\"]\n");
  const auto made = run_buoy({"study", file, "--out", folder_ / "out"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const std::string tables = folder_ / "out/report/tables";
  const std::string tasks = read_file(tables + "/tasks_by_layer.csv"),
                    traces = read_file(tables + "/tasks_traces.csv"),
                    claims = read_file(tables + "/claims.csv"),
                    absorption = read_file(tables + "/absorption_published.csv");
  EXPECT_NE(tasks.find("planted-diffusion,masked diffusion,all,0,relative_position"), std::string::npos)
      << tasks;
  for (const char* label : {"one.diffusion", "two.diffusion", "three.diffusion"})
    EXPECT_NE(traces.find(label), std::string::npos) << traces;
  EXPECT_NE(claims.find("2 samples are too few"), std::string::npos) << claims;
  EXPECT_NE(absorption.find("diffusion,0,"), std::string::npos) << absorption;
  EXPECT_EQ(absorption.find("two"), std::string::npos) << absorption;
  EXPECT_EQ(claims.find("C4,two"), std::string::npos) << claims;
}

TEST_F(StudyCommand, ChecksWithoutRunningAndNamesWhatIsMissing) {
  const auto file = folder_.write("small.toml", small_study("5"));
  const auto checked = run_buoy({"study", file, "--check"});
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_NE(checked.out.find("excluded by the design: C10: anything"), std::string::npos) << checked.out;
  EXPECT_NE(checked.out.find("2 models, 1 data set, 1 trace, 2 evaluations"), std::string::npos)
      << checked.out;
  const auto none =
      run_buoy({"study", folder_.write("none.toml",
                                       "[models]\na = \"/nowhere/a\"\n[[data]]\nname = \"d\"\nfile = "
                                       "\"/nowhere/d\"\n[[trace]]\nname = \"t\"\ndata = \"d\"\n")});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_TRUE(holds_in_order(none.err, {"models.a", "/nowhere/a", "nothing"}));
}

// Hours of tracing before a word nobody knows is found in the last part would be hours lost.
TEST_F(StudyCommand, RefusesBeforeItBeginsWhatWouldFailLater) {
  struct Mistake {
    const char *from, *to;
    std::vector<std::string> said;
  };
  const std::string good = small_study("5");
  for (const Mistake& mistake :
       {Mistake{"received,top,row-mass", "received,tops", {"trace t", "`observe`", "\"tops\""}},
        {"closed_book = true\npassages = 2", "sweep = \"places=1-2\"", {"evaluate gain", "\"places\""}},
        {"world = { passages = 2", "world = { people = \"nobody\"", {"data q", "\"nobody\""}},
        {"world = { passages = 2", "world = { passages = 2, gold_position = 9", {"data q", "9"}},
        {"limit = 2", "limit = 2\nlayers = \"0-99\"", {"trace t", "99"}},
        {"limit = 2", "limit = 2\ngroups = \"bogus\"", {"trace t", "bogus"}},
        {"share = 0.1", "share = 7.0", {"evaluate heads", "heads.share", "7"}},
        {"closed_book = true\npassages = 2",
         "sweep = \"prompt=none.prompt\"",
         {"evaluate gain", "none.prompt"}},
        {"\"floating\", \"retrieval\"", "\"nonsense\"", {"report", "nonsense"}},
        {"/planted.prompt", "/pear.prompt", {"prompt.with_passages:", "pear.prompt"}},
        {"/planted-autoregressive\"",
         "/planted-autoregressive/nothing\"",
         {"models.autoregressive", "nothing"}}}) {
    SCOPED_TRACE(mistake.to);
    std::string text = good;
    const auto at = text.find(mistake.from);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, std::string(mistake.from).size(), mistake.to);
    const auto file = folder_.write("bad.toml", text);
    for (const bool check : {true, false}) {
      std::vector<std::string> words = {"study", file, "--out", folder_ / "out"};
      if (check) words.push_back("--check");
      const auto run = run_buoy(words);
      EXPECT_EQ(run.exit_code, 3) << run.err;
      for (const auto& word : mistake.said) EXPECT_NE(run.err.find(word), std::string::npos) << run.err;
      EXPECT_FALSE(path_exists(folder_ / "out"));
    }
  }
}

}  // namespace
}  // namespace buoy::testing
