// Haystacks from the command line, asked and traced.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

#include "app/pair.h"
#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/study/study.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy::testing {
namespace {

std::vector<std::string> haystack(const std::vector<std::string>& more) {
  std::vector<std::string> call = {"haystack", "--model", pair_folder(true).string()};
  call.insert(call.end(), more.begin(), more.end());
  return call;
}

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> out;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) out.push_back(Json::parse(line));
  return out;
}

TEST(HaystackCommand, CountsTheTokensThatTheModelReads) {
  const auto made = run_buoy(haystack({"--lengths", "150,300", "--depths", "0,50", "--per-cell", "1"}));
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto lines = lines_of(made.out);
  ASSERT_EQ(lines.size(), 4U);
  for (const auto& line : lines) {
    const auto read = run_buoy(
        {"tokenize", "--model", pair_folder(true).string(), "--prompt", line["prompt"].get<std::string>()});
    ASSERT_EQ(read.exit_code, 0) << read.err;
    EXPECT_EQ(Json::parse(read.out)["ids"].size(), line["tokens"]);
    EXPECT_LE(line["tokens"].get<int>(), std::stoi(line["labels"]["length"].get<std::string>()));
  }
}

// With a chat template the prompt is longer than the message.
TEST(HaystackCommand, CountsTheChatTemplate) {
  const TempFolder folder;
  write_talking_model(folder / "model", true);
  const std::vector<std::string> call = {"haystack",  "--model",    (folder / "model").string(),
                                         "--lengths", "900",        "--depths",
                                         "50",        "--per-cell", "1"};
  auto with = call, without = call;
  with.insert(with.end(), {"--chat-style", "llada"});
  without.emplace_back("--no-chat");
  const auto chat = run_buoy(with), plain = run_buoy(without);
  ASSERT_EQ(chat.exit_code, 0) << chat.err;
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  const auto in_chat = lines_of(chat.out).at(0), alone = lines_of(plain.out).at(0);
  for (const auto& [line, option] : {std::pair{in_chat, "--chat-style=llada"}, {alone, "--no-chat"}}) {
    const auto read = run_buoy({"tokenize", "--model", (folder / "model").string(), option, "--prompt",
                                line["prompt"].get<std::string>()});
    ASSERT_EQ(read.exit_code, 0) << read.err;
    EXPECT_EQ(Json::parse(read.out)["ids"].size(), line["tokens"]) << option;
  }
  EXPECT_LT(in_chat["prompt"].get<std::string>().size(), alone["prompt"].get<std::string>().size());
}

TEST(HaystackCommand, ItsQuestionsAreAskedTracedAndKnowTheirEvidence) {
  const TempFolder folder;
  const std::string data = (folder / "h.jsonl").string(), model = "m=" + pair_folder(true).string();
  const auto made =
      run_buoy(haystack({"--lengths", "200,400", "--depths", "0,100", "--per-cell", "1", "--out", data}));
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto asked =
      run_buoy({"eval", "--model", model, "--data", data, "--template", "ready", "--max-new-tokens", "8",
                "--observe", "features", "--out", (folder / "run").string()});
  ASSERT_EQ(asked.exit_code, 0) << asked.err;
  const std::string table = read_file(folder / "run/tables/eval_haystack.csv");
  EXPECT_TRUE(holds_in_order(table, {"length,depth,items,mean", ",200,0,1,", ",200,100,1,", ",400,0,1,"}))
      << table;
  EXPECT_TRUE(path_exists(folder / "run/figures/eval_haystack_h.svg"));
  EXPECT_NE(read_file(folder / "run/answers.jsonl").find("gold_lift"), std::string::npos);
  const auto traced = run_buoy({"trace", "--model", pair_folder(true).string(), "--data", data,
                                "--max-new-tokens", "4", "--observe", "received,top,row-mass,mass",
                                "--groups", "regions", "--out", (folder / "trace").string()});
  ASSERT_EQ(traced.exit_code, 0) << traced.err;
  for (const char* analysis : {"retrieval", "flow"}) {
    const auto analysed =
        run_buoy({"analyze", analysis, (folder / "trace").string(), "--out", (folder / analysis).string()});
    EXPECT_EQ(analysed.exit_code, 0) << analysed.err;
  }
  EXPECT_NE(read_file(folder / "retrieval/tables/retrieval_tests.csv").find("scored),4"), std::string::npos)
      << read_file(folder / "retrieval/tables/retrieval_tests.csv");
}

TEST(HaystackCommand, RefusesInFlags) {
  const auto refused = [](const std::vector<std::string>& more, int code, const std::string& said) {
    const auto result = run_buoy(haystack(more));
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_NE(result.err.find(said), std::string::npos) << result.err;
  };
  refused({}, 2, "--lengths");
  refused({"--lengths", "20"}, 2, "--lengths: expected at least the");
  refused({"--lengths", "x"}, 2, "--lengths");
  refused({"--lengths", "200", "--depths", "0,101"}, 2, "--depths: expected numbers from 0 to 100");
  refused({"--lengths", "200", "--kind", "needles"}, 2, "--kind");
  refused({"--lengths", "200", "--needles", "3"}, 2, "--needles: expected 1 to 2 with needle");
  refused({"--lengths", "200", "--kind", "key-values", "--version", "2"}, 2,
          "--version: expected it with needle");
  refused({"--lengths", "200", "--filler", "/nowhere/text"}, 3, "/nowhere/text");
  const TempFolder folder;
  refused({"--lengths", "200", "--filler", folder.write("empty.txt", " \n").string()}, 3,
          "--filler: expected text");
}

TEST(HaystackCommand, AQuestionWithoutAReadyPromptFails) {
  const TempFolder folder;
  const auto data = folder.write("d.jsonl", "{\"question\": \"Who?\", \"answers\": [\"he\"]}\n");
  const auto asked =
      run_buoy({"eval", "--model", pair_folder(true).string(), "--data", data.string(), "--template", "ready",
                "--max-new-tokens", "2", "--out", (folder / "run").string()});
  EXPECT_EQ(asked.exit_code, 3) << asked.err;
  EXPECT_NE(asked.err.find("expected a ready one, as the template \"ready\" means"), std::string::npos)
      << asked.err;
}

class HaystackStudy : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!study::can_read_studies()) GTEST_SKIP() << "built without toml++";
  }
  std::string file(const std::string& haystack) {
    return folder_
        .write("s.toml", "[models]\nm = \"" + pair_folder(true).string() +
                             "\"\n[decoding]\nmax_new_tokens = 2\n[prompt]\nwith_passages = \"ready\"\n"
                             "[[data]]\nname = \"h\"\nhaystack = { " +
                             haystack + " }\n[[evaluate]]\nname = \"e\"\ndata = \"h\"\n")
        .string();
  }
  TempFolder folder_;
};

TEST_F(HaystackStudy, MakesWhatTheCommandPrints) {
  const auto study = file("model = \"m\", lengths = [200], depths = [0, 50], per_cell = 2, seed = 3");
  const auto checked = run_buoy({"study", study, "--check"});
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  const auto run = run_buoy({"study", study, "--out", (folder_ / "out").string()});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto printed =
      run_buoy(haystack({"--lengths", "200", "--depths", "0,50", "--per-cell", "2", "--seed", "3"}));
  EXPECT_EQ(read_file(folder_ / "out/data/h.jsonl"), printed.out);
  EXPECT_NE(read_file(folder_ / "out/report/tables/eval_haystack.csv").find(",200,50,2,"), std::string::npos);
}

// Found before anything is traced, not hours later.
TEST_F(HaystackStudy, CheckSaysWhatTheEvaluationWouldRefuse) {
  const auto study = file("model = \"m\", lengths = [200], depths = [0], per_cell = 1");
  std::string text = read_file(study);
  const std::string ready = "[prompt]\nwith_passages = \"ready\"\n";
  text.replace(text.find(ready), ready.size(), "");
  text.replace(text.find("max_new_tokens = 2"), 18, "max_new_tokens = 2\nsteps = 1");
  text += "sweep = \"hidden-keys=0,1\"\n";
  const auto checked = run_buoy({"study", folder_.write("wrong.toml", text).string(), "--check"});
  EXPECT_EQ(checked.exit_code, 3);
  for (const char* said : {"evaluate e: ", "a ready prompt and no template", "at least 2 steps"})
    EXPECT_NE(checked.err.find(said), std::string::npos) << checked.err;
}

TEST_F(HaystackStudy, RefusesBeforeItRuns) {
  const auto refused = [&](const std::string& haystack, const std::vector<std::string>& said) {
    const auto result = run_buoy({"study", file(haystack), "--check"});
    EXPECT_EQ(result.exit_code, 3) << result.err;
    for (const auto& part : said) EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  };
  refused("lengths = [200]", {"data.haystack", "model"});
  refused("model = \"n\", lengths = [200]", {"haystack.model", "\"n\""});
  refused("model = \"m\"", {"lengths", "at least one"});
  refused("model = \"m\", lengths = [20]", {"lengths", "needles and question alone"});
  refused("model = \"m\", lengths = [200], depth = [0]", {"depth", "depths"});
  refused("model = \"m\", lengths = [200], filler = \"no.txt\"", {"filler", "no.txt"});
}

}  // namespace
}  // namespace buoy::testing
