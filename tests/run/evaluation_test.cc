// How a run is packed, and over how many threads, decides nothing; and a run that was interrupted leaves the
// files of one that was not.

#include "buoy/run/evaluation.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/questions/data/item_json.h"
#include "buoy/run/attention_features.h"
#include "run/runs.h"
#include "support/fails_with.h"

namespace buoy::run {
namespace {

namespace fs = std::filesystem;
using testing::files_of;
using testing::run;
using testing::run_and_die;
using testing::same_files;
using testing::TempFolder;

std::vector<Condition> noisy_and_closed() {
  auto conditions = sweep("noise=1", {});
  conditions.push_back(testing::closed_book());
  return conditions;
}

TEST(Evaluation, PackingAndThreadsChangeNoByteOfTheAnswers) {
  const TempFolder scratch;
  auto spec =
      testing::pair_spec(testing::write_world(scratch, {.count = 5, .passages = 2}), noisy_and_closed());
  for (const double temperature : {0.0, 0.8}) {
    spec.decode.temperature = temperature;
    const std::string name = temperature > 0 ? "warm" : "greedy";
    spec.batch.token_budget = 1;
    spec.threads = 1;
    EXPECT_EQ(run(spec, scratch / (name + "-alone")).asked, 20u);
    const auto alone = files_of(scratch / (name + "-alone"));
    ASSERT_EQ(alone.size(), 2u) << "run.json and answers.jsonl";
    spec.batch.token_budget = 2048;
    spec.threads = 2;
    run(spec, scratch / (name + "-packed"));
    EXPECT_TRUE(same_files(files_of(scratch / (name + "-packed")), alone));
    if (temperature > 0) continue;
    spec.threads = 1;
    spec.batch.most_sequences = 3;
    run(spec, scratch / (name + "-narrow"));
    EXPECT_TRUE(same_files(files_of(scratch / (name + "-narrow")), alone));
  }
  EXPECT_NE(read_file(scratch / "warm-alone" / "answers.jsonl"),
            read_file(scratch / "greedy-alone" / "answers.jsonl"));
}

// Under a prefix mask every token of a prompt depends on its end: what prompts begin with cannot be kept.
// (The model refuses to begin inside a prefix.)
TEST(Evaluation, QuestionsThatBeginAlikeShareNothingUnderAPrefixMask) {
  const TempFolder scratch;
  const auto item = world::make_world_set(world::World(), {.count = 1, .passages = 3})[0];
  const auto model = testing::pair_model_with_mask(false, "prefix", scratch);
  const auto answers = [&](const std::string& name, const std::string& lines) {
    auto spec = testing::pair_spec(scratch.write(name + ".jsonl", lines), {Condition{}});
    spec.models = {model};
    run(spec, scratch / name);
    return read_file(scratch / name / "answers.jsonl");
  };
  std::string lines, alone;
  for (const char* word : {"one", "two", "three"}) {
    auto changed = item;
    changed.id = word;
    changed.question += std::string(" Please, ") + word + "!";
    const std::string line = questions::item_json(changed).dump() + '\n';
    lines += line;
    alone += answers(word, line);
  }
  EXPECT_EQ(answers("together", lines), alone);
}

TEST(Evaluation, EveryItemHasItsOwnRandomNumbersAndTheSeedDecidesThem) {
  const TempFolder scratch;
  // The same closed-book question ten times: nothing but the draws can differ.
  std::string lines;
  for (int i = 0; i < 10; ++i)
    lines += R"({"question": "What is the university of Shinia Subshaw?", "answers": ["?"]})"
             "\n";
  auto spec = testing::pair_spec(scratch.write("same.jsonl", lines), {testing::closed_book()});
  spec.decode.temperature = 5;  // the networks are sure of what they answer
  const auto answers = [&](const std::string& out, std::uint64_t seed) {
    spec.decode.seed = seed;
    run(spec, scratch / out);
    std::map<std::string, std::vector<std::string>> by_model;
    for (const auto& cell : read_scores(scratch / out).cells) {
      for (const auto& answer : cell.answers) by_model[cell.model].push_back(answer.answer);
    }
    return by_model;
  };
  const auto first = answers("a", 1), again = answers("b", 1), other = answers("c", 100);
  EXPECT_EQ(first, again);
  for (const auto& [model, texts] : first) {
    EXPECT_GE(std::set<std::string>(texts.begin(), texts.end()).size(), 4u) << model;
    EXPECT_NE(texts, other.at(model));
  }
}

// Of ten keys none can be three standard deviations out: the answer would be that of nothing hidden.
TEST(Evaluation, AQuestionOfWhichARuleSelectsNothingFails) {
  const TempFolder scratch;
  ConditionRequest request;
  request.sweep = "hidden-keys=0,1";
  request.hide_top_of = "rule:three_sigma";
  request.base.closed_book = true;
  const auto data = scratch.write("short.jsonl", R"({"question": "A?", "answers": ["?"]})");
  auto spec = testing::pair_spec(data, make_conditions(request));
  spec.decode.max_new_tokens = 2;
  run(spec, scratch / "out");
  const auto answers = read_file(scratch / "out" / "answers.jsonl");
  std::size_t failed = 0;
  for (std::size_t at = 0; (at = answers.find("three_sigma: none in", at)) != std::string::npos; ++at)
    ++failed;
  EXPECT_EQ(failed, 2u) << "of each network, with one key hidden\n" << answers;
}

// Every question would fail by itself.
TEST(Evaluation, OneStepHasNoneBeforeItAndIsRefusedBeforeTheFirstQuestion) {
  const TempFolder scratch;
  ConditionRequest request;
  request.sweep = "hidden-keys=0,1";
  request.base.closed_book = true;
  const auto data = scratch.write("short.jsonl", R"({"question": "A?", "answers": ["?"]})");
  auto spec = testing::pair_spec(data, make_conditions(request));
  spec.decode.steps = 1;
  EXPECT_TRUE(testing::fails_with<UsageError>([&] { run(spec, scratch / "out"); },
                                              {"`hide_top_of`", "at least 2 steps", "1"}));
  EXPECT_FALSE(path_exists(scratch / "out"));
}

TEST(Evaluation, InterruptedAnywhereAndResumedItLeavesTheSameFiles) {
  const TempFolder scratch;
  const auto spec =
      testing::pair_spec(testing::write_world(scratch, {.count = 5, .passages = 2}), noisy_and_closed());
  ASSERT_EQ(run(spec, scratch / "whole").answers, 20u);
  testing::summarise_run(scratch / "whole");
  const auto whole = files_of(scratch / "whole");
  ASSERT_EQ(whole.size(), 4u) << "run.json, answers.jsonl, summary.json, summary.csv";

  for (const std::size_t answers : {0u, 1u, 7u, 19u}) {
    SCOPED_TRACE(answers);
    const auto folder = scratch / ("killed-" + std::to_string(answers));
    run_and_die(spec, folder, false, answers);
    EXPECT_FALSE(fs::exists(folder / "answers.jsonl")) << "a part must not look like the whole";
    EXPECT_TRUE(testing::fails_with<InputError>([&] { read_scores(folder); }, {"finished", "`resume`"}));
    EXPECT_TRUE(testing::fails_with<UsageError>([&] { run(spec, folder); }, {"`resume`", "a run"}));
    const auto resumed = run(spec, folder, true);
    EXPECT_EQ(resumed.answers, 20u);
    EXPECT_LE(resumed.asked, 20u);
    testing::summarise_run(folder);
    EXPECT_TRUE(same_files(files_of(folder), whole));
  }
}

TEST(Evaluation, ALineCutInTwoIsAskedAgainAndAFinishedRunAsksNothing) {
  const TempFolder scratch;
  auto spec =
      testing::pair_spec(testing::write_world(scratch, {.count = 4, .passages = 1}), noisy_and_closed());
  spec.models = {testing::pair_model(false)};
  run(spec, scratch / "whole");
  const auto whole = files_of(scratch / "whole");
  const auto folder = scratch / "cut";
  run_and_die(spec, folder, false, 6);
  const auto partial = folder / "answers.partial.jsonl";
  const std::string kept = read_file(partial);
  EXPECT_EQ(whole.at("answers.jsonl").substr(0, kept.size()), kept) << "in the order of the plan";
  const auto last_line = kept.rfind('\n', kept.size() - 2) + 1;
  fs::resize_file(partial, last_line + 20);
  const auto lines = static_cast<std::size_t>(std::count(kept.begin(), kept.end(), '\n'));
  ASSERT_GE(lines, 2u);
  EXPECT_EQ(run(spec, folder, true).asked, 8 - (lines - 1));
  EXPECT_TRUE(same_files(files_of(folder), whole));
  EXPECT_EQ(run(spec, folder, true).asked, 0u);
  EXPECT_TRUE(same_files(files_of(folder), whole));
}

TEST(Evaluation, AnObservedRunSurvivesToo) {
  const TempFolder scratch;
  // The second item has no gold passage, so it fails: that must not stop a run from being resumed.
  const auto data = testing::write_world(scratch, {.count = 3, .passages = 2});
  std::string lines = read_file(data);
  const auto second = lines.find("\"gold\":true", lines.find('\n'));
  lines.replace(second, 11, "\"gold\":false");
  scratch.write("world.jsonl", lines);
  auto spec = testing::pair_spec(data, sweep("gold-position=1-2", {}));
  spec.models = {testing::pair_model(false)};
  spec.observe = kFeatureObservables;
  run(spec, scratch / "whole");
  const auto whole = files_of(scratch / "whole");
  ASSERT_EQ(whole.size(), 2u) << "run.json and answers.jsonl";
  const auto book = read_scores(scratch / "whole");
  ASSERT_EQ(book.cells.size(), 2u);
  EXPECT_EQ(book.cells[0].failures.size(), 1u);
  EXPECT_EQ(book.cells[0].answers[0].attention.count("top_share"), 1u);
  for (const std::size_t answers : {1u, 2u, 3u, 4u, 6u}) {
    SCOPED_TRACE(answers);
    const auto folder = scratch / ("killed-" + std::to_string(answers));
    run_and_die(spec, folder, false, answers);
    run(spec, folder, true);
    EXPECT_TRUE(same_files(files_of(folder), whole));
  }
}

TEST(Evaluation, NoDataSetMayBearTheNameOfAllOfThem) {
  const TempFolder scratch;
  auto spec = testing::pair_spec(testing::write_world(scratch, {.count = 1, .passages = 1}), {Condition{}});
  spec.data[0].name = "all";
  EXPECT_TRUE(testing::fails_with<UsageError>([&] { testing::run(spec, scratch / "run"); },
                                              {"data sets", "\"all\"", "NAME=PATH"}));
}

TEST(Evaluation, AnotherRunInTheFolderIsRefusedByTheFirstThingThatDiffers) {
  const TempFolder scratch;
  auto spec = testing::pair_spec(testing::write_world(scratch, {.count = 1, .passages = 1}),
                                 {testing::closed_book()});
  spec.models = {testing::pair_model(false)};
  run(spec, scratch / "run");
  const auto refused = [&](const std::function<void(EvaluationSpec&)>& change,
                           std::initializer_list<std::string> said) {
    auto other = spec;
    change(other);
    return testing::fails_with<InputError>([&] { run(other, scratch / "run", true); }, said);
  };
  EXPECT_TRUE(refused([](auto& s) { s.decode.seed = 5; }, {"run.json", "seed", "0 there", "5 now"}));
  EXPECT_TRUE(
      refused([](auto& s) { s.decode.max_new_tokens = 9; }, {"decoding.max_new_tokens", "8 there", "9 now"}));
  EXPECT_TRUE(refused([](auto& s) { s.prompt_template = "shared-passages"; }, {"prompt"}));
  EXPECT_TRUE(
      refused([](auto& s) { s.first_line_only = true; }, {"answers.first_line_only", "false", "true"}));
  EXPECT_TRUE(refused([](auto& s) { s.observe = kFeatureObservables; }, {"observe"}));
  EXPECT_TRUE(refused([](auto& s) { s.conditions[0].name = "other"; }, {"conditions"}));
  EXPECT_TRUE(refused([](auto& s) { s.read.fields.labels = {"kind"}; }, {"fields"}));
  EXPECT_TRUE(refused([](auto& s) { s.models = {testing::pair_model(true)}; }, {"models"}));
  scratch.write("world.jsonl", read_file(scratch / "world.jsonl") + "\n");
  EXPECT_TRUE(refused([](auto&) {}, {"data.world.sha256"})) << "the same items in another file";
  scratch.write("full", "");
  fs::create_directory(scratch / "folder");
  scratch.write("folder/thesis.tex", "");
  EXPECT_TRUE(testing::fails_with<InputError>([&] { run(spec, scratch / "folder"); },
                                              {"empty folder", "thesis.tex"}));
}

}  // namespace
}  // namespace buoy::run
