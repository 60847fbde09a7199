// Runs that no buoy eval has written.

#include "buoy/run/summary/score_book.h"

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/run/answer_file.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy::run {
namespace {

using testing::fails_with;
using testing::TempFolder;

constexpr char kRun[] =
    R"({"models": {"m": {"family": "LLaDA", "masked_diffusion": true}}, "data": {"s": {}, "t": {}},)"
    R"( "conditions": [{"name": "c"}, {"name": "p=1", "sweep": {"axis": "p", "value": "1"}}]})";

AnswerRecord record_of(const std::string& set, const std::string& condition, const std::string& id) {
  AnswerRecord record;
  record.model = "m", record.set = set, record.condition = condition, record.id = id;
  return record;
}

TEST(ScoreBook, PutsAnswersIntoTheirCellsWhateverTheirOrder) {
  const TempFolder folder;
  folder.write("run.json", kRun);
  AnswerRecord failed = record_of("t", "c", "2");
  failed.error = "too long";
  std::string lines;
  for (const auto& record : {record_of("t", "c", "1"), record_of("s", "p=1", "1"), failed})
    lines += to_line(record) + '\n';
  folder.write(kAnswersFile, lines);
  const ScoreBook book = read_scores(folder.path());
  EXPECT_EQ(book.sets, (std::vector<std::string>{"t", "s"})) << "as the answers bring them";
  ASSERT_EQ(book.cells.size(), 2u);
  EXPECT_EQ(book.cells[0].answers.size(), 1u);
  EXPECT_EQ(book.cells[0].failures.size(), 1u);
  EXPECT_EQ(book.conditions[1].axis, "p");
}

// tests/data/run/abuse: the first line is run.json, the rest answers.jsonl, as in fuzz_answers.
TEST(ScoreBook, HostileRunsAreRefused) {
  const auto refused = [](const std::string& name, std::initializer_list<std::string> parts) {
    const auto text = read_file(std::filesystem::path(BUOY_TEST_DATA) / "run" / "abuse" / name);
    const std::size_t line_end = text.find('\n');
    const TempFolder folder;
    folder.write("run.json", text.substr(0, line_end));
    folder.write(kAnswersFile, text.substr(line_end + 1));
    return fails_with<InputError>([&] { read_scores(folder.path()); }, parts);
  };
  EXPECT_TRUE(refused("unknown_condition", {"answers.jsonl:2: condition", "run.json names", "\"d\""}));
  EXPECT_TRUE(refused("unknown_model", {"answers.jsonl:1: model", "run.json names", "\"n\""}));
  EXPECT_TRUE(refused("unknown_set", {"answers.jsonl:1: set", "run.json names", "\"\""}));
  EXPECT_TRUE(refused("item_twice", {"answers.jsonl:3: id", "each item once", "\"1\" again"}));
  EXPECT_TRUE(refused("place_beyond_integers", {"answers.jsonl:1: gold_positions", "places, from 1"}));
  EXPECT_TRUE(refused("place_zero", {"answers.jsonl:1: gold_positions", "places, from 1"}));
  EXPECT_TRUE(refused("score_beyond_one", {"answers.jsonl:1: scores: f1", "0 to 1", "the number 1e+300"}));
  EXPECT_TRUE(refused("attention_overflows", {"answers.jsonl:1: attention: gold_mass", "the number"}));
  EXPECT_TRUE(refused("negative_count", {"answers.jsonl:1: tokens", "from 0 to", "the number -1"}));
  EXPECT_TRUE(refused("empty_error", {"answers.jsonl:1: error", "why there is no answer", "text \"\""}));
  EXPECT_TRUE(refused("no_answer", {"answers.jsonl:1: answer", "text", "nothing"}));
  EXPECT_TRUE(refused("gold_is_a_number", {"answers.jsonl:1: golds", "a list of texts"}));
  EXPECT_TRUE(refused("data_is_text", {"run.json: data", "an object", "text \"s\""}));
  EXPECT_TRUE(refused("condition_twice", {"run.json: conditions[1]", "another name", "\"c\" again"}));
  EXPECT_TRUE(refused("no_kind", {"run.json: models.m: masked_diffusion", "true or false", "nothing"}));
  EXPECT_TRUE(refused("run_is_a_list", {"run.json", "a JSON object", "a list of 1"}));
}

}  // namespace
}  // namespace buoy::run
