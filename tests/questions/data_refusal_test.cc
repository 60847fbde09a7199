// Data that is not what it should be.

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "buoy/questions/data/item_reader.h"
#include "questions/questions_data.h"
#include "support/fails_with.h"

namespace buoy::questions {
namespace {

using testing::fails_with;

using Parts = std::initializer_list<std::string>;

::testing::AssertionResult refused(const std::string& name, Parts parts, const ReadOptions& options = {}) {
  return fails_with<InputError>([&] { read_items(data_file("abuse/" + name), options); }, parts);
}

TEST(DataRefusal, ALineThatIsNoJson) {
  EXPECT_TRUE(refused("not_json.jsonl", {"not_json.jsonl:4:", "valid JSON", "at column 36"}));
  EXPECT_TRUE(refused("bad_utf8.jsonl", {"bad_utf8.jsonl:1:", "valid JSON", "UTF-8"}));
  EXPECT_TRUE(refused("no_object.jsonl", {"no_object.jsonl:1:", "a JSON object", "just text"}));
  EXPECT_TRUE(refused("list.json", {"list.json:1:", "one JSON object per line", "a JSON list"}));
  EXPECT_TRUE(refused("lfs_pointer.jsonl", {"lfs_pointer.jsonl:1:", "JSON Lines", "Git LFS pointer"}));
}

TEST(DataRefusal, NoQuestion) {
  EXPECT_TRUE(refused("no_question.jsonl", {"no_question.jsonl:2: question", "a question in \"question\"",
                                            "the fields answers, title"}));
  EXPECT_TRUE(refused("never_a_question.jsonl", {"never_a_question.jsonl:1: question", "\"query\"", "ask"}));
  EXPECT_TRUE(refused("blank_question.jsonl", {"blank_question.jsonl:1: question", "blank text"}));
}

TEST(DataRefusal, NoAnswers) {
  EXPECT_TRUE(
      refused("no_answers.jsonl", {"no_answers.jsonl:2: answers", "answers in", "the fields question"}));
  EXPECT_TRUE(refused("empty_answers.jsonl", {":1: answers", "at least one answer", "a list of 0"}));
  EXPECT_TRUE(refused("blank_answers.jsonl", {":1: answers", "at least one answer", "a list of 2"}));
  EXPECT_TRUE(refused("answers_of_another_type.jsonl", {":1: answers[0]", "text, a number", "true"}));
}

TEST(DataRefusal, PassagesOfAnotherForm) {
  EXPECT_TRUE(refused("passages_no_list.jsonl", {":1: passages", "a list of passages", "text \"text\""}));
  EXPECT_TRUE(refused("passage_without_text.jsonl", {":1: ctxs[1].text", "the passage's text", "nothing"}));
  EXPECT_TRUE(refused("gold_of_another_type.jsonl", {":1: passages[0].gold", "true or false", "yes"}));
  EXPECT_TRUE(refused("no_pair.jsonl", {":1: ordered_kv_records[1]", "a key and a value", "[\"c\"]"}));
}

TEST(DataRefusal, PassagesAskedForAndAbsent) {
  EXPECT_TRUE(fails_with<InputError>([] { read_items(data_file("buoy.jsonl"), {.require_passages = true}); },
                                     {"buoy.jsonl:2: passages", "at least one passage", "none"}));
  EXPECT_NO_THROW(read_items(data_file("fid.jsonl"), {.require_passages = true}));
}

TEST(DataRefusal, NothingInTheFile) {
  EXPECT_TRUE(refused("empty.jsonl", {"empty.jsonl", "at least one question", "none"}));
  EXPECT_TRUE(refused("blank_lines.jsonl", {"blank_lines.jsonl", "at least one question", "none"}));
}

TEST(DataRefusal, ReadingGoesOnBehindABadLine) {
  ItemReader reader(data_file("abuse/not_json.jsonl"));
  EXPECT_TRUE(reader.next().has_value());
  EXPECT_TRUE(reader.next().has_value());
  EXPECT_THROW(reader.next(), InputError);
  EXPECT_TRUE(reader.next().has_value());
  EXPECT_FALSE(reader.next().has_value());
}

}  // namespace
}  // namespace buoy::questions
