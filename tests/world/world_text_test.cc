#include "buoy/world/world_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace buoy::world {
namespace {

WorldDraws draws(std::uint32_t thing) {
  return {1, WorldStream::kItem, thing};
}

size_t sentences(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '.'));
}

TEST(WorldDraws, CoverTheirRangeEvenly) {
  WorldDraws some = draws(0);
  std::vector<int> counts(5);
  for (int i = 0; i < 5000; ++i) ++counts[some.below(5)];
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);  // 5 standard deviations
}

TEST(WorldText, ABiographyOpensWithTheFullNameAndSaysWhatItMust) {
  const World world;
  for (std::uint32_t i = 0; i < 200; ++i) {
    const Person person = world.unknown(i);
    const size_t relation = i % world_tables().relations.size();
    WorldDraws d = draws(i);
    const std::string text = write_biography(person, {.must_say = relation, .must_not_say = {}}, d);
    EXPECT_TRUE(text.starts_with(person.name() + ' ')) << text;
    EXPECT_NE(text.find(' ' + person.values[relation]), std::string::npos) << text;
    EXPECT_GE(sentences(text), kFewestStatements);
    EXPECT_LE(sentences(text), kMostStatements);
    EXPECT_EQ(text.find('{'), std::string::npos) << text;
  }
}

TEST(WorldText, ABiographyKeepsSilentWhereToldTo) {
  const World world;
  const size_t date = world_tables().relation("birth_date");
  for (std::uint32_t i = 0; i < 200; ++i) {
    const Person person = world.unknown(i);
    WorldDraws d = draws(i);
    const std::string text = write_biography(person, {.must_say = {}, .must_not_say = date}, d);
    EXPECT_EQ(text.find(person.values[date]), std::string::npos) << text;
  }
}

TEST(WorldText, WordingVaries) {
  const World world;
  const Person person = world.unknown(1);
  std::set<std::string> texts, questions;
  for (std::uint32_t i = 0; i < 100; ++i) {
    WorldDraws d = draws(i);
    texts.insert(write_biography(person, {}, d));
    questions.insert(write_question(person.name(), 0, d));
  }
  EXPECT_GT(texts.size(), 95U);
  EXPECT_EQ(questions.size(), world_tables().relations[0].questions.size());
}

TEST(WorldText, OtherSpellingsAreAccepted) {
  const WorldTables& tables = world_tables();
  EXPECT_EQ(accepted_answers("3 March 1901", tables.relation("birth_date")),
            (std::vector<std::string>{"3 March 1901", "March 3, 1901"}));
  EXPECT_EQ(accepted_answers("The Silent Harbor", tables.relation("work")),
            (std::vector<std::string>{"The Silent Harbor", "Silent Harbor"}));
  EXPECT_EQ(accepted_answers("botany", tables.relation("field")), std::vector<std::string>{"botany"});
}

}  // namespace
}  // namespace buoy::world
