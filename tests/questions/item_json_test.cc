#include "buoy/questions/data/item_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "buoy/questions/data/item_reader.h"
#include "support/temp_folder.h"

namespace buoy::questions {
namespace {

TEST(ItemJson, AnItemReadsBackAsItWas) {
  const Item item{"id-1",
                  "Wie \"heißt\" es?\n",
                  {"Ärger", "二"},
                  {{"Title", "Text\twith\ntabs", true, true},
                   {"", "No title", false, false},
                   {"T", "Nothing known", false, std::nullopt}},
                  {},
                  {},
                  {{"kind", "unknown"}, {"year", "1990"}}};
  const testing::TempFolder scratch;
  const auto file = scratch.write("items.jsonl", item_json(item).dump() + "\n");
  const auto read = read_items(file, {.require_passages = true});
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].id, item.id);
  EXPECT_EQ(read[0].question, item.question);
  EXPECT_EQ(read[0].answers, item.answers);
  EXPECT_EQ(read[0].labels, item.labels);
  ASSERT_EQ(read[0].passages.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read[0].passages[i].title, item.passages[i].title);
    EXPECT_EQ(read[0].passages[i].text, item.passages[i].text);
    EXPECT_EQ(read[0].passages[i].gold, item.passages[i].gold);
    EXPECT_EQ(read[0].passages[i].has_answer, item.passages[i].has_answer) << i;
  }
}

TEST(ItemJson, WithoutPassagesOrLabelsItIsStillAnItem) {
  const testing::TempFolder scratch;
  const Item item{"a", "Q?", {"A"}, {}, {}, {}, {}};
  const auto read = read_items(scratch.write("items.jsonl", item_json(item).dump() + "\n"));
  ASSERT_EQ(read.size(), 1u);
  EXPECT_TRUE(read[0].passages.empty());
  EXPECT_TRUE(read[0].labels.empty());
}

}  // namespace
}  // namespace buoy::questions
