#include "buoy/run/answer_file.h"

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy::run {
namespace {

using testing::fails_with;
using testing::TempFolder;

AnswerRecord record_of(int number) {
  AnswerRecord record;
  record.model = "m", record.set = "s", record.condition = "c";
  record.id = std::to_string(number);
  record.golds = {"gold"};
  record.answer = "answer";
  return record;
}

std::string ids(const std::filesystem::path& folder) {
  std::string out;
  read_answers(folder, [&](AnswerRecord&& record) { out += record.id + " "; });
  return out;
}

TEST(AnswerRecord, ReadsBackAsItWas) {
  AnswerRecord r = record_of(3);
  r.question = "Wie \"heißt\" es?\n";
  r.golds = {"二", "two"};
  r.prompt = "Passage 1: tab\there";
  r.ended = true;
  r.tokens = 2, r.ids_without_text = 1, r.prompt_tokens = 77, r.passages = 3, r.cut_passages = 1;
  r.gold_positions = {1, 3};
  r.labels = {{"kind", "unknown"}};
  r.scores = {1, 0.5, 0.25, 1.0 / 3, 7};
  r.attention = {{"gold_mass", 0.1}};
  const std::string line = to_line(r);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const AnswerRecord read = parse_record(line, "f:1");
  EXPECT_EQ(to_line(read), line);
  EXPECT_EQ(read.scores.f1, 1.0 / 3) << "to the last bit";
  EXPECT_EQ(read.golds, r.golds);
  EXPECT_EQ(read.gold_positions, r.gold_positions);
  EXPECT_EQ(read.attention, r.attention);
  EXPECT_EQ(read.ids_without_text, 1);
  EXPECT_FALSE(read.failed());

  AnswerRecord failure = record_of(4);
  failure.error = "item 4: too long";
  const AnswerRecord read_failure = parse_record(to_line(failure), "f:2");
  EXPECT_TRUE(read_failure.failed());
  EXPECT_EQ(read_failure.error, failure.error);
  EXPECT_EQ(to_line(failure).find("scores"), std::string::npos) << "no score of an answer there is none of";
}

TEST(AnswerRecord, SaysWhereALineIsNone) {
  const auto refused = [](const std::string& line, std::initializer_list<std::string> said) {
    return fails_with<InputError>([&] { parse_record(line, "answers.jsonl:7"); }, said);
  };
  EXPECT_TRUE(refused("{", {"answers.jsonl:7", "JSON"}));
  EXPECT_TRUE(refused("{}", {"answers.jsonl:7", "model"}));
  std::string line = to_line(record_of(1));
  line.replace(line.find("\"f1\""), 4, "\"f2\"");
  EXPECT_TRUE(refused(line, {"answers.jsonl:7: scores: f1", "a number", "nothing"}));
}

TEST(AnswerFile, KeepsTheOrderOfThePlanAndHidesUntilTheEnd) {
  const TempFolder scratch;
  AnswerFile file(scratch.path());
  EXPECT_EQ(file.kept(), 0u);
  for (const int n : {2, 0, 1, 4}) file.put(static_cast<std::size_t>(n), record_of(n));
  const std::string partial = read_file(scratch / "answers.partial.jsonl");
  EXPECT_EQ(std::count(partial.begin(), partial.end(), '\n'), 3) << "4 waits for 3";
  EXPECT_TRUE(fails_with<InputError>([&] { ids(scratch.path()); }, {"answers.jsonl", "not finished"}));
  EXPECT_THROW(file.put(1, record_of(1)), InternalError) << "each once";
  EXPECT_THROW(file.finish(), InternalError) << "3 is missing";
  file.put(3, record_of(3));
  file.finish();
  EXPECT_TRUE(file.complete());
  EXPECT_EQ(ids(scratch.path()), "0 1 2 3 4 ");
  EXPECT_FALSE(std::filesystem::exists(scratch / "answers.partial.jsonl"));
  const AnswerFile again(scratch.path());
  EXPECT_TRUE(again.complete());
  EXPECT_EQ(again.kept(), 5u);
}

TEST(AnswerFile, GoesOnBehindTheLastWholeLine) {
  const TempFolder scratch;
  scratch.write("answers.partial.jsonl",
                to_line(record_of(0)) + "\n" + to_line(record_of(1)) + "\n{\"model\": \"m");
  AnswerFile file(scratch.path());
  EXPECT_EQ(file.kept(), 2u);
  file.put(2, record_of(2));
  file.finish();
  EXPECT_EQ(ids(scratch.path()), "0 1 2 ");
}

TEST(AnswerFile, HasOneWriter) {
  const TempFolder scratch;
  {
    AnswerFile file(scratch.path());
    EXPECT_TRUE(fails_with<UsageError>([&] { AnswerFile second(scratch.path()); },
                                       {"answers.partial.jsonl", "a run that nobody is writing", "another"}));
    file.put(0, record_of(0));
  }
  AnswerFile next(scratch.path());
  EXPECT_EQ(next.kept(), 1u) << "the lock goes with its owner, the answers stay";
  next.finish();
  EXPECT_TRUE(AnswerFile(scratch.path()).complete());
}

TEST(AnswerFile, NoRunIsNamed) {
  const TempFolder scratch;
  EXPECT_TRUE(
      fails_with<InputError>([&] { ids(scratch.path()); }, {"answers.jsonl of a finished run", "none"}));
}

// Joining reads the place of an answer by the beginning of its line, and whole where that is not plain.
TEST(AnswerRecord, ThePlaceOfAnAnswerIsThatOfItsRecord) {
  for (const char* id : {"q1", "", "a \"quote\"", "back\\slash", "\xc3\xa9t\xc3\xa9", "tab\there"}) {
    AnswerRecord record;
    record.model = "m", record.set = "a set", record.condition = "c=1", record.id = id;
    record.golds = {"x"}, record.prompt = "p";
    const AnswerRecord place = parse_place(to_line(record), "answers.jsonl:1");
    EXPECT_EQ(place.model, "m");
    EXPECT_EQ(place.set, "a set");
    EXPECT_EQ(place.condition, "c=1");
    EXPECT_EQ(place.id, id);
  }
  EXPECT_TRUE(testing::fails_with<InputError>(
      [] { parse_place(R"({"model":"m","set":3})", "answers.jsonl:7"); }, {"answers.jsonl:7", "set"}));
  EXPECT_TRUE(testing::fails_with<InputError>([] { parse_place(R"({"model":"m)", "answers.jsonl:7"); },
                                              {"answers.jsonl:7"}));
}

}  // namespace
}  // namespace buoy::run
