#include "buoy/questions/data/data_summary.h"

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "questions/questions_data.h"
#include "support/temp_folder.h"

namespace buoy::questions {
namespace {

TEST(DataSummary, CountsWhatAFileHolds) {
  const DataSummary summary = summarise_data(data_file("buoy.jsonl.gz"));
  EXPECT_EQ(name_of(summary.layout), "buoy");
  EXPECT_TRUE(summary.compressed);
  EXPECT_EQ(summary.items, 3U);
  EXPECT_EQ(summary.with_passages, 2U);
  EXPECT_EQ(summary.with_gold, 2U);
  EXPECT_EQ(summary.gold_passages, 2U);
  EXPECT_EQ(summary.with_has_answer, 1U);
  EXPECT_EQ(summary.with_prompt, 1U);
  EXPECT_EQ(summary.missing_ids, 0U);
  EXPECT_EQ(summary.changed_ids, 3U);
  EXPECT_EQ(summary.passages.least, 0U);
  EXPECT_EQ(summary.passages.median, 1);
  EXPECT_EQ(summary.passages.most, 2U);
  EXPECT_EQ(summary.answers.least, 1U);
  EXPECT_EQ(summary.answers.median, 1);
  EXPECT_EQ(summary.answers.most, 2U);
}

TEST(DataSummary, LinesForPeople) {
  std::map<std::string, std::string> lines;
  for (const auto& [name, value] : summary_lines(summarise_data(data_file("kilt.jsonl"))))
    lines[name] = value;
  EXPECT_EQ(lines.at("layout"), "kilt");
  EXPECT_EQ(lines.at("fields"), "id=id question=input answers=output[].answer");
  EXPECT_EQ(lines.at("items"), "2");
  EXPECT_EQ(lines.at("answers per item"), "2 to 2, median 2");
  EXPECT_EQ(lines.count("blank passages"), 0U);
}

TEST(DataSummary, OfPromptsAlone) {
  const testing::TempFolder folder;
  const auto file =
      folder.write("p.jsonl", "{\"prompt\": \"Once upon a time\"}\n{\"prompt\": \"there was\"}\n");
  const DataSummary summary = summarise_data(file, {.require_answers = false});
  EXPECT_EQ(summary.items, 2U);
  EXPECT_EQ(summary.with_prompt, 2U);
  EXPECT_EQ(summary.without_answers, 2U);
}

TEST(DataSummary, MedianOfAnEvenNumberLiesBetween) {
  SizeCounts counts;
  for (const std::size_t size : {1, 1, 4, 9}) counts.add(size);
  EXPECT_EQ(counts.spread().median, 2.5);
  counts.add(9);
  EXPECT_EQ(counts.spread().median, 4);
  EXPECT_EQ(SizeCounts().spread().most, 0U);
}

TEST(DataSummary, AnEmptyFileHasNone) {
  EXPECT_THROW(summarise_data(data_file("abuse/empty.jsonl")), InputError);
}

}  // namespace
}  // namespace buoy::questions
