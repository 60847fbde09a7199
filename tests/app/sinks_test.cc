// The published experiment on sinks runs from its file to its page, with four questions; and what `buoy
// score` and the options of hidden keys say on the command line.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/pair.h"
#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/study/study.h"
#include "support/temp_folder.h"

namespace buoy::testing {
namespace {

const std::filesystem::path kRoot = std::filesystem::path(BUOY_TEST_DATA).parent_path().parent_path();

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

TEST(SinksStudy, RunsWithFourQuestions) {
  if (!study::can_read_studies()) GTEST_SKIP() << "built without toml++";
  const TempFolder folder;
  std::string text = read_file(kRoot / "studies/sinks.toml");
  text = replaced(text, "\"../models", '"' + (kRoot / "models").string());
  text = replaced(replaced(text, "count = 24", "count = 4"), "limit = 12", "limit = 2");
  text = replaced(text, "\"published/sinks.toml", '"' + (kRoot / "studies/published/sinks.toml").string());
  text = replaced(text, "hidden-keys=0,1,5,10", "hidden-keys=0,10");
  const auto file = folder.write("sinks.toml", text + "\n[controls]\nuntrained = 0\n");
  const auto run = run_buoy({"study", file, "--out", (folder / "out").string()});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto scores = read_file(folder / "out/report/tables/eval_scores.csv");
  for (const char* row :
       {",hidden-keys,0,", ",hidden-keys,10,", ",hidden-keys-random,10,", ",hidden-keys-mass,10,"})
    EXPECT_NE(scores.find(row), std::string::npos) << row << '\n' << scores;
  // Beside the published numbers, which are of other networks.
  const auto beside = read_file(folder / "out/report/tables/published_values.csv");
  EXPECT_NE(beside.find("Llama-3.1-8B-Instruct"), std::string::npos) << beside;
  EXPECT_NE(beside.find(",not comparable,"), std::string::npos) << beside;
  EXPECT_TRUE(path_exists(folder / "out/report/report.html"));
}

std::string questions(const TempFolder& folder, const std::string& count) {
  const std::string file = (folder / "q.jsonl").string();
  EXPECT_EQ(run_buoy({"world", "--passages", "3", "--count", count, "--out", file}).exit_code, 0);
  return file;
}

TEST(ScoreCommand, WritesItsTables) {
  const TempFolder folder;
  const auto data = questions(folder, "2");
  const auto run = run_buoy({"score", "--model", pair_folder(true).string(), "--data", data, "--template",
                             (kRoot / "models/planted.prompt").string(), "--form", "path", "--path-order",
                             "decoding", "--leave-out", "--out", (folder / "out").string()});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("path decoding"), std::string::npos) << run.out;
  for (const char* name : {"score_summary", "score_answers", "score_tokens", "score_passages"}) {
    EXPECT_TRUE(path_exists(folder / "out/tables" / (std::string(name) + ".csv"))) << name;
    EXPECT_TRUE(path_exists(folder / "out/tables" / (std::string(name) + ".json"))) << name;
  }
}

TEST(ScoreCommand, RefusesByName) {
  const TempFolder folder;
  const auto data = questions(folder, "1");
  const auto refused = [&](bool masked, std::vector<std::string> more, const std::string& said) {
    std::vector<std::string> all = {"score", "--model", pair_folder(masked).string(), "--data", data};
    all.insert(all.end(), more.begin(), more.end());
    const auto run = run_buoy(all);
    EXPECT_NE(run.exit_code, 0);
    EXPECT_NE(run.err.find(said), std::string::npos) << run.err;
  };
  refused(true, {}, "--form");
  refused(false, {"--form", "one-shot"}, "--form");
  refused(true, {"--form", "both"}, "one-shot or path");
  refused(false, {"--max-new-tokens", "4"}, "--slots");
  refused(true, {"--form", "one-shot", "--path-order", "decoding"}, "--form path with it");
  refused(true, {"--form", "one-shot", "--slots", "1"}, "at most 1 tokens, the canvas");
  refused(true, {"--form", "one-shot", "--texts", "--leave-out"}, "--leave-out");
}

TEST(HiddenKeysCommand, HidesAndRefuses) {
  const auto generated = [](std::vector<std::string> more) {
    std::vector<std::string> all = {"generate",
                                    "--model",
                                    pair_folder(true).string(),
                                    "--prompt",
                                    "Question: Who employs Klados Hebwick?\nAnswer:",
                                    "--max-new-tokens",
                                    "6",
                                    "--json"};
    all.insert(all.end(), more.begin(), more.end());
    return run_buoy(all);
  };
  const auto plain = generated({});
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(generated({"--hide-top", "0"}).out, plain.out);
  EXPECT_NE(generated({"--hide-top", "12"}).out, plain.out);
  const auto refused = [&](std::vector<std::string> more, const std::string& said) {
    const auto run = generated(more);
    EXPECT_NE(run.exit_code, 0);
    EXPECT_NE(run.err.find(said), std::string::npos) << run.err;
  };
  refused({"--hide-top", "1/0"}, "--hide-top");
  refused({"--hide-top", "1000"}, "at most");
  refused({"--hide-top", "1@0.9"}, "heads 0 to 3");
  refused({"--hide-control", "random"}, "--hide-control");
  refused({"--hide-top", "1", "--hide-top-of", "rule:none"}, "--hide-top-of");
}

// A folder holds the tables of one call, and what was asked in it.
class ScoreFolder : public ::testing::Test {
 protected:
  ScoreFolder() {
    const auto made = run_buoy({"world", "--count", "2", "--passages", "2", "--out", data()});
    EXPECT_EQ(made.exit_code, 0) << made.err;
  }
  std::string data() const { return (scratch_ / "q.jsonl").string(); }
  std::filesystem::path out() const { return scratch_ / "scores"; }
  static std::string model(const char* name) { return (kRoot / "models" / name).string(); }

  ProgramResult score(const char* network, const std::vector<std::string>& more) {
    std::vector<std::string> call = {
        "score", "--model",      model(network), "--data", data(), "--template", model("planted.prompt"),
        "--out", out().string(), "--threads",    "1"};
    call.insert(call.end(), more.begin(), more.end());
    return run_buoy(call);
  }

  TempFolder scratch_;
};

TEST_F(ScoreFolder, AFolderHoldsWhatOneCallScored) {
  ASSERT_EQ(
      score("planted-diffusion", {"--form", "path", "--path-order", "decoding", "--leave-out"}).exit_code, 0);
  EXPECT_TRUE(path_exists(out() / "tables/score_passages.csv"));
  const Json first = read_json_file(out() / "score.json");
  EXPECT_EQ(first.at("form"), "path decoding");
  EXPECT_EQ(first.at("leave_out"), true);
  EXPECT_EQ(first.at("model").at("masked_diffusion"), true);
  EXPECT_EQ(first.at("data").at("items"), 2);
  EXPECT_EQ(first.at("prompt").at("name"), "planted.prompt");
  ASSERT_EQ(score("planted-autoregressive", {}).exit_code, 0);
  const Json second = read_json_file(out() / "score.json");
  EXPECT_EQ(second.at("form"), "next-token");
  EXPECT_NE(second.at("model").at("weights_sha256"), first.at("model").at("weights_sha256"));
  EXPECT_TRUE(path_exists(out() / "tables/score_summary.csv"));
  EXPECT_FALSE(path_exists(out() / "tables/score_passages.csv")) << "of the call before";
}

TEST_F(ScoreFolder, OptionsThatChangeNothingAreRefused) {
  const auto slots = score("planted-autoregressive", {"--slots", "9"});
  EXPECT_EQ(slots.exit_code, 2);
  EXPECT_NE(slots.err.find("--slots"), std::string::npos) << slots.err;
  const auto steps = score("planted-diffusion", {"--form", "one-shot", "--steps", "3"});
  EXPECT_EQ(steps.exit_code, 2);
  EXPECT_NE(steps.err.find("--steps: expected none, or --form path with --path-order decoding"),
            std::string::npos)
      << steps.err;
  EXPECT_FALSE(path_exists(out()));
}

}  // namespace
}  // namespace buoy::testing
