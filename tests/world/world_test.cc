#include "buoy/world/world.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>
#include <span>

#include "buoy/base/error.h"
#include "buoy/base/sha256.h"
#include "buoy/world/world_json.h"
#include "support/fails_with.h"

namespace buoy::world {
namespace {

using testing::fails_with;

TEST(WorldTables, EveryMadeUpWordMeansOneThing) {
  const WorldTables& tables = world_tables();
  std::set<std::string> words;
  size_t count = 0;
  const auto add = [&](const std::vector<std::string>& list) {
    count += list.size();
    words.insert(list.begin(), list.end());
  };
  add(tables.first_names);
  add(tables.family_names);
  for (const char* relation : {"birthplace", "university", "field", "employer", "instrument"}) {
    add(tables.relations[tables.relation(relation)].parts[0]);
  }
  for (size_t part : {1, 2}) add(tables.relations[tables.relation("work")].parts[part]);
  EXPECT_EQ(words.size(), count);
}

TEST(WorldTables, WordingsHaveTheirSlots) {
  for (const auto& relation : world_tables().relations) {
    for (const auto& statement : relation.statements) {
      EXPECT_NE(statement.find("{s}"), std::string::npos) << statement;
      EXPECT_NE(statement.find("{v}"), std::string::npos) << statement;
    }
    for (const auto& question : relation.questions) {
      EXPECT_NE(question.find("{n}"), std::string::npos) << question;
    }
    for (int i : {0, 1}) EXPECT_TRUE(relation.statements[static_cast<size_t>(i)].starts_with("{s}"));
    EXPECT_EQ(relation.is_person(), !relation.noun.empty()) << relation.name;
  }
}

TEST(WorldTables, UnknownRelationIsNamed) {
  EXPECT_TRUE(fails_with<UsageError>([] { world_tables().relation("shoe"); }, {"birthplace, birth_date"}));
}

// The pair in models/ was trained on exactly this: whoever changes a word or a fact has to train it again.
TEST(World, IsTheOneTheBundledPairKnows) {
  const std::string text = world_tables_json(World()).dump() + '\n';
  EXPECT_EQ(sha256_hex(std::as_bytes(std::span(text))),
            "1852ee9c8f42c402a71d129ca75aa496a5506e50f40d16ccabf17f03268c1e8f");
}

TEST(World, KnownPeopleHaveNamesOfTheirOwnThatTrainingMayShow) {
  const World world;
  std::set<std::string> names;
  for (const auto& person : world.known()) {
    names.insert(person.name());
    EXPECT_FALSE(is_held_out_name(person.first, person.family)) << person.name();
  }
  EXPECT_EQ(names.size(), world.options().asked + world.options().read_only);
  EXPECT_EQ(world.known().front().group, WorldPeople::kAsked);
  EXPECT_EQ(world.known().back().group, WorldPeople::kReadOnly);
}

TEST(World, UnknownPeopleHaveNamesThatTrainingNeverShows) {
  const World world;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const Person person = world.unknown(i);
    EXPECT_TRUE(is_held_out_name(person.first, person.family)) << person.name();
    EXPECT_EQ(person.values.size(), world_tables().relations.size());
  }
}

TEST(World, IsAFunctionOfItsSeed) {
  const World world({.seed = 7}), same({.seed = 7}), other({.seed = 8});
  EXPECT_EQ(world.unknown(3).values, same.unknown(3).values);
  EXPECT_EQ(world.known()[5].values, same.known()[5].values);
  EXPECT_NE(world.unknown(3).values, other.unknown(3).values);
  EXPECT_NE(world.known()[5].values, other.known()[5].values);
}

TEST(World, RelativesAreThePeopleNamed) {
  const World world;
  const WorldTables& tables = world_tables();
  for (const Person& person : {world.unknown(1), world.known()[2]}) {
    for (const char* name : {"mentor", "spouse"}) {
      const size_t r = tables.relation(name);
      const Person relative = world.relative(person, r);
      EXPECT_EQ(relative.name(), person.values[r]);
      EXPECT_NE(relative.name(), person.name());
      EXPECT_EQ(relative.is_known(), person.is_known());
    }
  }
  EXPECT_TRUE(fails_with<UsageError>([&] { world.relative(world.unknown(1), tables.relation("field")); },
                                     {"a relation to a person"}));
}

TEST(World, RefusesMorePeopleThanNames) {
  EXPECT_TRUE(fails_with<UsageError>([] { World({.asked = 50000}); }, {"known people"}));
  EXPECT_TRUE(fails_with<UsageError>([] { World({.asked = 0, .read_only = 0}); }, {"known people"}));
}

}  // namespace
}  // namespace buoy::world
