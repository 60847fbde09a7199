#include "buoy/world/world2_text.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <span>

#include "buoy/base/sha256.h"
#include "buoy/world/world2_tables.h"
#include "buoy/world/world_json.h"

namespace buoy::world {
namespace {

using questions::Item;
using questions::Passage;

// Networks of the family are trained on exactly this: whoever changes a word has to train them again.
TEST(World2, IsTheOneTheFamilyKnows) {
  const std::string text = world_tables_json(World({.version = 2})).dump() + '\n';
  EXPECT_EQ(sha256_hex(std::as_bytes(std::span(text))),
            "b4100bb6216770d87d95c6380cbb82ce96cce1395e77e7f31c989fdec49a8fe0");
}

TEST(World2, HasThePeopleOfVersion1) {
  const World first, second({.version = 2});
  EXPECT_EQ(first.known()[7].values, second.known()[7].values);
  EXPECT_EQ(first.unknown(7).values, second.unknown(7).values);
}

TEST(World2Tables, EveryRelationHasANameOfItsOwn) {
  EXPECT_EQ(world2_tables().list_names.size(), world_tables().relations.size());
}

TEST(World2Text, AnswersFollowTheOrderOfTheTables) {
  Person person = World().known()[0];
  const std::string field = person.values[3], city = person.values[5];
  EXPECT_EQ(list_answer(person, {5, 3}), "field: " + field + "; home: " + city);
  EXPECT_EQ(life_answer(person, {5, 3}), person.name() + " is an expert in " + field + ". " +
                                             person.pronoun() + " lives in " + city + ".");
}

TEST(World2Text, TokensAreRunsOfOneKind) {
  EXPECT_EQ(world_token_count(""), 0U);
  EXPECT_EQ(world_token_count("field: botany; home: Dravburg"), 7U);
  EXPECT_EQ(world_token_count("[12] She lives.\n Now"), 8U);
}

TEST(World2Text, PromptsAreWrittenAsTheTablesSay) {
  Item item;
  item.question = "Who?";
  item.passages = {{.title = "A B", .text = "A B lives."}, {.title = "C D", .text = "C D works."}};
  EXPECT_EQ(write_prompt(item, {.style = 0, .wording = 0}),
            "Passage 1: A B lives.\nPassage 2: C D works.\nQuestion: Who?\nAnswer:");
  EXPECT_EQ(write_prompt(item, {.style = 1, .wording = 1}),
            "Read these records first.\n[1] A B lives.\n[2] C D works.\nNow reply to this: Who?\nReply:");
  EXPECT_EQ(write_prompt(item, {.style = 2, .wording = 0}),
            "Document A - A B lives.\nDocument B - C D works.\nQuestion: Who?\nAnswer:");
  EXPECT_EQ(write_prompt(item, {.style = 3, .wording = 0}),
            " A B\n A B lives.\n C D\n C D works.\nQuestion: Who?\nAnswer:");
  EXPECT_EQ(write_prompt(item, {.style = 4, .wording = 0}),
            " A B lives.\n C D works.\nQuestion: Who?\nAnswer:");
}

}  // namespace
}  // namespace buoy::world
