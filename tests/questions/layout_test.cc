// Every layout is read from a small file of its own.

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "buoy/questions/data/item_reader.h"
#include "questions/questions_data.h"
#include "support/fails_with.h"
#include "support/temp_folder.h"

namespace buoy::questions {
namespace {

using testing::fails_with;
using testing::TempFolder;
using Texts = std::vector<std::string>;

struct Read {
  Layout layout;
  FieldNames fields;
  std::vector<Item> items;
};

Read read(const std::string& name, const FieldNames& names = {}) {
  ItemReader reader(data_file(name), {.fields = names});
  Read result{};
  while (auto item = reader.next()) result.items.push_back(*std::move(item));
  result.layout = reader.layout();
  result.fields = reader.fields();
  return result;
}

TEST(Layout, Kilt) {
  const auto [layout, fields, items] = read("kilt.jsonl");
  EXPECT_EQ(name_of(layout), "kilt");
  EXPECT_EQ(fields.question, "input");
  EXPECT_EQ(fields.answers, "output");
  EXPECT_EQ(fields.answer_text, "answer");
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].id, "harbour-1");
  EXPECT_EQ(items[0].question, "Which sea lies north of the harbour?");
  EXPECT_EQ(items[0].answers, (Texts{"Grey Sea", "the Grey Sea"}))
      << "an entry without an answer is passed over";
  EXPECT_EQ(items[0].source_titles, (Texts{"Grey Sea", "Harbour"}));
  EXPECT_TRUE(items[0].passages.empty());
  EXPECT_EQ(items[1].answers, (Texts{"7", "seven"})) << "repeats are removed";
}

TEST(Layout, Authors) {
  const auto [layout, fields, items] = read("authors.jsonl");
  EXPECT_EQ(name_of(layout), "authors");
  EXPECT_EQ(fields.question, "query");
  EXPECT_EQ(fields.passages, "passage");
  EXPECT_EQ(fields.text, "segment");
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].id, "000001") << "the file has no ids";
  EXPECT_EQ(items[1].id, "000002");
  EXPECT_EQ(items[0].answers, Texts{"Ines Falk"}) << "objects";
  EXPECT_EQ(items[1].answers, Texts{"1931"}) << "texts";
  ASSERT_EQ(items[0].passages.size(), 2U);
  EXPECT_EQ(items[0].passages[1].title, "Keeper");
  EXPECT_EQ(items[0].passages[1].text, "The keeper lived below.");
  EXPECT_FALSE(items[0].passages[0].has_answer.has_value());
}

TEST(Layout, Fid) {
  const auto [layout, fields, items] = read("fid.jsonl");
  EXPECT_EQ(name_of(layout), "fid");
  EXPECT_EQ(fields.passages, "ctxs");
  EXPECT_EQ(fields.has_answer, "has_answer");
  EXPECT_EQ(fields.gold, "");
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0].id, "7") << "ids may be numbers";
  EXPECT_EQ(items[0].answers, (Texts{"a reef", "reef"}));
  EXPECT_EQ(items[0].passages[0].title, "Buoy");
  EXPECT_EQ(items[0].passages[0].has_answer, true);
  EXPECT_EQ(items[0].passages[1].has_answer, false);
  EXPECT_FALSE(items[0].passages[0].gold);
}

TEST(Layout, LostInTheMiddle) {
  const auto [layout, fields, items] = read("lost_in_the_middle.jsonl");
  EXPECT_EQ(name_of(layout), "fid");
  EXPECT_EQ(fields.gold, "isgold");
  EXPECT_EQ(fields.has_answer, "hasanswer");
  ASSERT_EQ(items.at(0).passages.size(), 3U);
  EXPECT_FALSE(items[0].passages[0].gold);
  EXPECT_TRUE(items[0].passages[1].gold);
  EXPECT_EQ(items[0].passages[1].has_answer, true);
  EXPECT_EQ(items[0].passages[1].text, "In winter North Harbour freezes.");
}

TEST(Layout, BuoysOwnPlainAndGzip) {
  for (const char* name : {"buoy.jsonl", "buoy.jsonl.gz", "two_members.jsonl.gz"}) {
    SCOPED_TRACE(name);
    const auto [layout, fields, items] = read(name);
    EXPECT_EQ(name_of(layout), "buoy");
    ASSERT_EQ(items.size(), 3U);
    EXPECT_EQ(items[0].answers, (Texts{"4 m", "four metres"}));
    EXPECT_TRUE(items[0].passages.at(0).gold);
    EXPECT_EQ(items[0].passages[0].has_answer, true);
    EXPECT_FALSE(items[0].passages.at(1).gold);
    EXPECT_EQ(items[0].labels.at("source"), "own");
    EXPECT_FALSE(items[0].prompt.has_value());
    EXPECT_TRUE(items[1].passages.empty());
    EXPECT_EQ(items[1].prompt, "Who measures it? Say one name.");
    EXPECT_EQ(items[1].labels.at("kind"), "person");
    EXPECT_EQ(items[1].labels.at("year"), "1990");
    EXPECT_EQ(items[2].passages.at(0).title, "") << "a passage needs no title";
    EXPECT_EQ(items[0].id, "tide_1") << "ids are made fit to name files";
    EXPECT_EQ(items[2].id, "tide_1-2") << "and stay apart";
  }
}

TEST(Layout, Plain) {
  const auto [layout, fields, items] = read("plain.jsonl");
  EXPECT_EQ(name_of(layout), "plain");
  EXPECT_EQ(fields.answers, "answer");
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].question, "What is two and two?");
  EXPECT_EQ(items[0].answers, Texts{"4"}) << "a number is an answer";
  EXPECT_EQ(items[1].answers, (Texts{"Hafenstra\u00dfe", "Hafenstrasse"}));
}

TEST(Layout, KeyValue) {
  const auto [layout, fields, items] = read("key_value.jsonl");
  EXPECT_EQ(name_of(layout), "key-value");
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(items[0].question, "Which value belongs to the key \"k-2\"?");
  EXPECT_EQ(items[0].answers, Texts{"v-8"});
  ASSERT_EQ(items[0].passages.size(), 3U);
  EXPECT_EQ(items[0].passages[1].text, "\"k-2\": \"v-8\"");
  EXPECT_TRUE(items[0].passages[1].gold);
  EXPECT_FALSE(items[0].passages[0].gold);
}

TEST(Layout, NamesGivenWinOverNamesFound) {
  FieldNames names;
  names.question = "title_of_question";
  names.answers = "reply";
  names.answer_text = "short";
  names.passages = "docs";
  names.text = "body";
  names.gold = "relevant";
  names.labels = {"level"};
  const TempFolder temp;
  const auto file = temp.write(
      "f",
      R"({"title_of_question": "Q?", "question": "other", "reply": [{"short": "A", "answer": "B"}], "level": 3,
               "docs": [{"body": "x", "text": "y", "relevant": 1}, {"body": "z", "relevant": 0}]})"
      "\n");
  std::string one_line = read_file(file);
  std::erase(one_line, '\n');
  const auto joined = temp.write("g", one_line);
  ItemReader reader(joined, {.fields = names});
  const Item item = *reader.next();
  EXPECT_EQ(name_of(reader.layout()), "other");
  EXPECT_EQ(item.question, "Q?");
  EXPECT_EQ(item.answers, Texts{"A"});
  EXPECT_EQ(item.passages.at(0).text, "x");
  EXPECT_TRUE(item.passages[0].gold);
  EXPECT_FALSE(item.passages.at(1).gold);
  EXPECT_EQ(item.labels.at("level"), "3");
}

TEST(Layout, AFieldCanBeLeftOut) {
  FieldNames names;
  names.passages = FieldNames::kIgnored;
  const auto [layout, fields, items] = read("fid.jsonl", names);
  EXPECT_EQ(name_of(layout), "plain");
  EXPECT_TRUE(items.at(0).passages.empty());
}

TEST(Layout, FieldsMayTurnUpLate) {
  const TempFolder temp;
  const auto file = temp.write("f",
                               "{\"question\": \"1\", \"answer\": \"A\"}\n"
                               "{\"question\": \"2\", \"answer\": \"A\", \"ctxs\": []}\n"
                               "{\"question\": \"3\", \"answer\": \"A\", \"ctxs\": [{\"text\": \"x\"}, "
                               "{\"text\": \"y\", \"isgold\": true}, \"bare text\"]}\n");
  ItemReader reader(file);
  EXPECT_TRUE(reader.next()->passages.empty());
  EXPECT_EQ(name_of(reader.layout()), "plain");
  EXPECT_TRUE(reader.next()->passages.empty());
  const Item third = *reader.next();
  EXPECT_EQ(name_of(reader.layout()), "fid");
  EXPECT_TRUE(third.passages.at(1).gold);
  EXPECT_EQ(third.passages.at(2).text, "bare text");
  EXPECT_FALSE(reader.next().has_value());
}

TEST(Layout, AnswersOfSeveralForms) {
  const TempFolder temp;
  const auto file = temp.write(
      "f",
      R"({"input": "Q?", "output": [{"answer": "A"}, {"text": "B"}, "C", 4, 0.5, {"answer": 6}, {}, ""]})");
  EXPECT_EQ(read_items(file).at(0).answers, (Texts{"A", "B", "C", "4", "0.5", "6"}));
}

TEST(Layout, OnlyTheFirstItems) {
  EXPECT_EQ(read_items(data_file("buoy.jsonl"), {.limit = 2}).size(), 2U);
  EXPECT_EQ(read_items(data_file("buoy.jsonl"), {.limit = 9}).size(), 3U);
}

}  // namespace
}  // namespace buoy::questions
