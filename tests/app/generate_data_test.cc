// `buoy generate --data`: many prompts, a line each, every one answered as if it were alone.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>
#include <sstream>

#include "app/program.h"
#include "buoy/base/file/json_file.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

using testing::holds_in_order;
using testing::run_buoy;

const std::vector<std::string> kPrompts = {"Once upon a time", "What floats?", "hi", "Who is there?"};

std::string line(const std::string& id, const std::string& prompt) {
  return Json{{"id", id}, {"prompt", prompt}}.dump() + "\n";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string one; std::getline(in, one);) lines.push_back(one);
  return lines;
}

class GenerateData : public ::testing::TestWithParam<bool> {
 protected:
  GenerateData() {
    testing::write_talking_model(scratch_ / "model", GetParam());
    std::string data;
    for (size_t i = 0; i < kPrompts.size(); ++i) data += line("q" + std::to_string(i), kPrompts[i]);
    data_ = scratch_.write("prompts.jsonl", data).string();
  }

  testing::ProgramResult run(const std::vector<std::string>& more) {
    std::vector<std::string> call = {"generate", "--model", (scratch_ / "model").string(), "--max-new-tokens",
                                     "6"};
    call.insert(call.end(), more.begin(), more.end());
    return run_buoy(call);
  }

  testing::TempFolder scratch_;
  std::string data_;
};
INSTANTIATE_TEST_SUITE_P(Models, GenerateData, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "diffusion" : "autoregressive"; });

TEST_P(GenerateData, AnswersAsOneByOne) {
  const auto all = run({"--data", data_, "--json"});
  ASSERT_EQ(all.exit_code, 0) << all.err;
  const auto lines = lines_of(all.out);
  ASSERT_EQ(lines.size(), kPrompts.size());
  std::set<std::string> different;
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto alone = run({"--prompt", kPrompts[i], "--json"});
    ASSERT_EQ(alone.exit_code, 0) << alone.err;
    Json expected = Json::parse(alone.out);
    EXPECT_FALSE(expected.contains("id"));
    different.insert(expected.dump());
    expected["id"] = "q" + std::to_string(i);
    EXPECT_EQ(Json::parse(lines[i]), expected);
  }
  EXPECT_GT(different.size(), 1u) << "the prompts tell nothing apart";
}

// Random numbers are those of the sample's number, as in `buoy trace`.
TEST_P(GenerateData, EveryPromptHasItsOwnRandomNumbers) {
  const auto all = run({"--data", data_, "--json", "--temperature", "1", "--seed", "11"});
  ASSERT_EQ(all.exit_code, 0) << all.err;
  const auto lines = lines_of(all.out);
  ASSERT_EQ(lines.size(), kPrompts.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto alone =
        run({"--prompt", kPrompts[i], "--json", "--temperature", "1", "--seed", std::to_string(11 + i)});
    EXPECT_EQ(Json::parse(lines[i]).at("ids"), Json::parse(alone.out).at("ids")) << i;
  }
}

TEST_P(GenerateData, PrintsALineEachWithItsName) {
  const auto all = run({"--data", data_, "--timing"});
  ASSERT_EQ(all.exit_code, 0) << all.err;
  for (size_t i = 0; i < kPrompts.size(); ++i) {
    const auto alone = run({"--prompt", kPrompts[i]});
    EXPECT_NE(("\n" + all.out).find("\nq" + std::to_string(i) + ": " + alone.out), std::string::npos)
        << all.out;
    EXPECT_EQ(alone.err.find("in all"), std::string::npos) << "only with --timing";
  }
  EXPECT_TRUE(holds_in_order(all.err, {"loading ", " s, decoding ", " s; ", " s in all\n"}));

  const auto two = run({"--data", data_, "--limit", "2", "--json"});
  ASSERT_EQ(two.exit_code, 0) << two.err;
  EXPECT_EQ(lines_of(two.out).size(), 2u);
}

TEST_P(GenerateData, ABadPromptIsSaidAndTheOthersAreAnswered) {
  const auto whole = run({"--data", data_, "--json"});
  const std::string too_long(9000, 'w');  // beyond the context of either model
  const auto mixed = scratch_.write("mixed.jsonl", line("empty", "") + line("q0", kPrompts[0]) +
                                                       line("long", too_long) + line("q1", kPrompts[1]));
  const auto result = run({"--data", mixed.string(), "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto found = lines_of(result.out), expected = lines_of(whole.out);
  ASSERT_EQ(found.size(), 2u) << result.err;
  EXPECT_EQ(found[0], expected[0]);
  EXPECT_EQ(found[1], expected[1]);
  EXPECT_TRUE(holds_in_order(result.err, {"empty: ", "an empty prompt", "long: ", "--allow-long"}));
}

TEST_P(GenerateData, NoAnswerAtAllIsAnError) {
  const auto two = scratch_.write("two.jsonl", line("a", "") + line("b", ""));
  const auto none = run({"--data", two.string()});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_TRUE(holds_in_order(none.err, {"a: ", "b: ", "every prompt failed", "an empty prompt"}));
  EXPECT_EQ(none.out, "");
  const auto one = run({"--data", scratch_.write("one.jsonl", line("a", "")).string()});
  EXPECT_EQ(one.exit_code, 3);
  EXPECT_TRUE(holds_in_order(one.err, {"an empty prompt"}));
}

TEST_P(GenerateData, OnePromptOrAFileOfThem) {
  const auto both = run({"--data", data_, "--prompt", "hi"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_TRUE(holds_in_order(both.err, {"--prompt excludes --data"}));
  const auto limit = run({"--prompt", "hi", "--limit", "1"});
  EXPECT_EQ(limit.exit_code, 2);
  EXPECT_TRUE(holds_in_order(limit.err, {"--limit", "--data"}));
  const auto none = run({"--data", (scratch_ / "none.jsonl").string()});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_NE(none.err.find("none.jsonl"), std::string::npos) << none.err;
}

}  // namespace
}  // namespace buoy
