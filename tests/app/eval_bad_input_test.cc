// What can be wrong with a call of `buoy eval` or with its data, and what it says; nothing is left behind.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "support/fails_with.h"
#include "support/golden.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

namespace fs = std::filesystem;
using testing::holds_in_order;
using testing::run_buoy;
using testing::TempFolder;

class EvalBadInput : public ::testing::Test {
 protected:
  EvalBadInput() { testing::write_talking_model(scratch_ / "model", false); }

  testing::ProgramResult eval(const std::string& data, const std::vector<std::string>& more,
                              const std::string& out = "run") {
    std::vector<std::string> call = {"eval", "--model", (scratch_ / "model").string(), "--data",
                                     data,   "--out",   (scratch_ / out).string(),     "--resamples",
                                     "100"};
    call.insert(call.end(), more.begin(), more.end());
    return run_buoy(call);
  }

  // Refused before anything was written.
  void expect_refused(const std::string& data, const std::vector<std::string>& more, int exit_code,
                      std::initializer_list<std::string> said) {
    const auto result = eval(data, more);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_TRUE(holds_in_order(result.err, said));
    EXPECT_FALSE(fs::exists(scratch_ / "run"));
    fs::remove_all(scratch_ / "run");
  }

  static std::string sample(const std::string& name) {
    return (testing::data_folder() / "questions" / name).string();
  }
  static std::string bad(const std::string& name) { return sample("abuse/" + name); }

  TempFolder scratch_;
};

TEST_F(EvalBadInput, DataThatIsNone) {
  expect_refused(bad("not_json.jsonl"), {}, 3, {"not_json.jsonl:4:", "valid JSON", "column 36"});
  expect_refused(bad("no_question.jsonl"), {}, 3,
                 {"no_question.jsonl:2: question", "\"question\"", "answers, title"});
  expect_refused(bad("no_answers.jsonl"), {}, 3,
                 {"no_answers.jsonl:2: answers", "\"answers\"", "fields question"});
  expect_refused(bad("empty.jsonl"), {}, 3, {"empty.jsonl", "at least one question", "none"});
  expect_refused(bad("cut_short.jsonl.gz"), {}, 3, {"cut_short.jsonl.gz", "whole gzip stream"});
  expect_refused((scratch_ / "nothing.jsonl").string(), {}, 3, {"nothing.jsonl"});
  // The bad line is far behind the first items, and is known before a model is loaded.
  std::string lines;
  for (int i = 1; i <= 40; ++i)
    lines += R"({"question": "Q?", "answers": ["a"]})"
             "\n";
  const auto late = scratch_.write("late.jsonl", lines + "{\"question\": \"Q?\"}\n");
  expect_refused(late.string(), {}, 3, {"late.jsonl:41: answers", "found the fields question"});
}

TEST_F(EvalBadInput, PassagesThatAreNotThere) {
  expect_refused(sample("plain.jsonl"), {"--passages", "2"}, 3,
                 {"plain.jsonl", "passages", "--closed-book", "--retrieve", "none in 2 items"});
  expect_refused(sample("kilt.jsonl"), {"--sweep", "gold-position=1-2"}, 3,
                 {"kilt.jsonl", "none in 2 items"});
  expect_refused(sample("plain.jsonl"), {"--field", "passages=documents", "--passages", "1"}, 3,
                 {"none in 2 items"});
}

TEST_F(EvalBadInput, SingleItemsFailAndAreListedAndAllOfThemAreAnError) {
  const auto passages = [](int count) {
    Json list = Json::array();
    for (int i = 0; i < count; ++i) list.push_back({{"text", "t"}, {"gold", i == 0}});
    return list;
  };
  std::string lines;
  for (const int count : {3, 1, 2})
    lines += Json({{"id", "has-" + std::to_string(count)},
                   {"question", "Q?"},
                   {"answers", {"a"}},
                   {"passages", passages(count)}})
                 .dump() +
             "\n";
  const auto data = scratch_.write("few.jsonl", lines).string();
  const auto some = eval(data, {"--gold-position", "2", "--max-new-tokens", "2"}, "some");
  EXPECT_EQ(some.exit_code, 0) << some.err;
  EXPECT_TRUE(holds_in_order(some.err, {"1 of 3 items failed"}));
  const Json table = read_json_file(scratch_ / "some" / "tables" / "eval_failures.json");
  ASSERT_EQ(table.at("rows").size(), 1u);
  EXPECT_EQ(table["rows"][0][3], "has-1");
  EXPECT_TRUE(holds_in_order(table["rows"][0][4].get<std::string>(), {"has-1", "expected", "found"}));

  const auto all = eval(data, {"--gold-position", "7", "--max-new-tokens", "2"}, "all");
  EXPECT_EQ(all.exit_code, 3) << all.err;
  EXPECT_TRUE(
      holds_in_order(all.err, {"3 of 3 items failed", "every item of model, few, passages failed", "has-3"}));
  EXPECT_TRUE(fs::exists(scratch_ / "all" / "answers.jsonl")) << "the failures are written down";
}

TEST_F(EvalBadInput, AFolderThatHoldsSomethingElse) {
  const auto data = sample("plain.jsonl");
  const std::vector<std::string> call = {"--max-new-tokens", "2", "--seed", "3"};
  ASSERT_EQ(eval(data, call).exit_code, 0);
  const auto twice = eval(data, call);
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_TRUE(holds_in_order(twice.err, {"run", "--resume"}));
  const auto other = eval(data, {"--max-new-tokens", "2", "--seed", "4", "--resume"});
  EXPECT_EQ(other.exit_code, 3);
  EXPECT_TRUE(holds_in_order(other.err, {"run.json", "seed", "3 there", "4 now"}));
  const auto fewer = eval(data, {"--max-new-tokens", "2", "--seed", "3", "--limit", "1", "--resume"});
  EXPECT_EQ(fewer.exit_code, 3);
  EXPECT_TRUE(holds_in_order(fewer.err, {"run.json", "data.plain.items", "2 there", "1 now"}));
  EXPECT_EQ(eval(data, {"--max-new-tokens", "2", "--seed", "3", "--resume"}).exit_code, 0);
}

TEST_F(EvalBadInput, ColumnsOfATraceThatKeepsLessAreRefusedOnceBeforeTheRun) {
  const auto data = sample("plain.jsonl");
  const auto watched =
      run_buoy({"watch", "--model", (scratch_ / "model").string(), "--data", data, "--max-new-tokens", "2",
                "--analyze", "floating", "--out", (scratch_ / "watched").string()});
  ASSERT_EQ(watched.exit_code, 0) << watched.err;
  expect_refused(data, {"--columns-from", "model=" + (scratch_ / "watched").string()}, 3,
                 {"watched", "--keep full", "one that keeps tables"});
}

TEST_F(EvalBadInput, CallsThatMakeNoSense) {
  const auto data = sample("lost_in_the_middle.jsonl"), model = (scratch_ / "model").string();
  expect_refused(data, {"--sweep", "volume=1-3"}, 2, {"--sweep", "gold-position", "\"volume\""});
  expect_refused(data, {"--sweep", "noise=loud"}, 2, {"--sweep noise", "numbers", "\"loud\""});
  expect_refused(data, {"--sweep", "noise=1,1"}, 2, {"--sweep noise", "once", "twice"});
  expect_refused(data, {"--sweep", "noise-kind=random"}, 2, {"noise-kind", "--noise N"});
  expect_refused(data, {"--sweep", "noise-kind=loud", "--noise", "1"}, 2, {"random", "repeated", "\"loud\""});
  expect_refused(data, {"--noise", "1", "--noise-kind", "loud"}, 2, {"--noise-kind", "loud"});
  expect_refused(data, {"--noise-kind", "shuffled"}, 2, {"--noise-kind", "--noise N", "neither"});
  expect_refused(data, {"--heads-share", "0.1"}, 2, {"--heads-share", "--heads-from"});
  expect_refused(data, {"--no-chat", "--system", "Be brief."}, 2, {"--no-chat", "--system"});
  expect_refused(data, {"--sweep", "steps=2,4"}, 2, {"--sweep steps", "masked-diffusion model", "none"});
  expect_refused(data, {"--columns-from", "other=" + model}, 2,
                 {"--columns-from", "for every model", "model=TRACE"});
  expect_refused(data, {"--columns-from", "model=" + (scratch_ / "nowhere").string()}, 3, {"nowhere"});
  expect_refused(data, {"--columns-from", "model=x", "--sweep", "noise=1"}, 2, {"more than one"});
  expect_refused(data, {"--field", "volume=x"}, 2, {"--field", "question", "volume"});
  expect_refused(data, {"--field", "question"}, 2, {"--field", "FIELD=NAME", "\"question\""});
  expect_refused(data, {"--model", model}, 2, {"models", "NAME=PATH", "\"model\" twice"});
  expect_refused(data, {"--data", "lost_in_the_middle=" + sample("fid.jsonl")}, 2, {"data sets", "twice"});
  expect_refused(data, {"--max-new-tokens", "0"}, 2, {"--max-new-tokens", "at least 1", "0"});
  expect_refused(data, {"--chat", "--no-chat"}, 2, {"--chat excludes --no-chat"});
  expect_refused(data, {"--observe", "everything"}, 2, {"observe", "everything"});
  expect_refused(data, {"--limit", "0"}, 2, {"--limit"});
  expect_refused(data, {"--top", "3"}, 2, {"--retrieve"});
  expect_refused(data, {"--prompt", "no-such-prompt"}, 2, {"shared-passages", "no-such-prompt"});
  expect_refused(data, {"--sweep", "prompt=no-such-prompt"}, 2, {"shared-passages", "no-such-prompt"});
  expect_refused(data, {"--model", "none=" + (scratch_ / "nowhere").string()}, 3, {"nowhere"});
}

TEST_F(EvalBadInput, AnOrderOfUnmaskingThatTheModelHasNot) {
  fs::remove_all(scratch_ / "model");
  testing::write_talking_model(scratch_ / "model", true);
  expect_refused(sample("lost_in_the_middle.jsonl"), {"--sweep", "order=random,sideways"}, 2,
                 {"--algorithm", "low_confidence, random", "\"sideways\""});
}

TEST_F(EvalBadInput, AModelThatCannotReadText) {
  fs::remove(scratch_ / "model" / "tokenizer.json");
  expect_refused(sample("plain.jsonl"), {}, 3, {"tokenizer.json"});
}

}  // namespace
}  // namespace buoy
