// `buoy score` and the folder it writes: tables of one call, and what was asked in it.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>

#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "support/golden.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

namespace fs = std::filesystem;
using testing::run_buoy;

class ScoreFolder : public ::testing::Test {
 protected:
  ScoreFolder() {
    const auto made = run_buoy({"world", "--count", "2", "--passages", "2", "--out", data()});
    EXPECT_EQ(made.exit_code, 0) << made.err;
  }
  std::string data() const { return (scratch_ / "q.jsonl").string(); }
  fs::path out() const { return scratch_ / "scores"; }
  static std::string model(const char* name) {
    return (testing::data_folder() / "../../models" / name).string();
  }

  testing::ProgramResult score(const char* network, const std::vector<std::string>& more) {
    std::vector<std::string> call = {
        "score", "--model",      model(network), "--data", data(), "--template", model("planted.prompt"),
        "--out", out().string(), "--threads",    "1"};
    call.insert(call.end(), more.begin(), more.end());
    return run_buoy(call);
  }

  testing::TempFolder scratch_;
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
}  // namespace buoy
