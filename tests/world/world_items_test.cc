#include "buoy/world/world_items.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

#include "buoy/base/error.h"
#include "buoy/questions/data/item_json.h"
#include "support/fails_with.h"

namespace buoy::world {
namespace {

using questions::Item;
using questions::item_json;
using questions::Passage;

using testing::fails_with;

class WorldSet : public ::testing::Test {
 protected:
  std::vector<Item> set(WorldSetOptions options) const {
    options.count = std::min(options.count, 60U);
    return make_world_set(world_, options);
  }

  static size_t golds(const Item& item) {
    return static_cast<size_t>(
        std::count_if(item.passages.begin(), item.passages.end(), [](const Passage& p) { return p.gold; }));
  }

  static bool says(const Passage& passage, const Item& item) {
    return passage.text.find(' ' + item.answers[0]) != std::string::npos;
  }

  const World world_;
};

TEST_F(WorldSet, ClosedBookHasNoPassages) {
  for (const WorldPeople people : {WorldPeople::kAsked, WorldPeople::kReadOnly, WorldPeople::kUnknown}) {
    for (const Item& item : set({.people = people})) {
      EXPECT_TRUE(item.passages.empty());
      EXPECT_EQ(item.labels.at("kind"), name_of(people));
      EXPECT_EQ(item.labels.count("noise"), 0U);
      EXPECT_NE(item.question.find(item.labels.at("person")), std::string::npos);
    }
  }
}

TEST_F(WorldSet, OnlyTheGoldPassageHoldsTheAnswer) {
  for (const WorldNoise noise : {WorldNoise::kRandom, WorldNoise::kIrrelevant, WorldNoise::kSameRelation,
                                 WorldNoise::kShuffled, WorldNoise::kRepeated}) {
    size_t elsewhere = 0, others = 0;
    for (const Item& item : set({.passages = 5, .noise = noise})) {
      ASSERT_EQ(item.passages.size(), 5U);
      EXPECT_EQ(golds(item), 1U);
      EXPECT_EQ(item.labels.at("noise"), name_of(noise));
      for (const Passage& passage : item.passages) {
        if (passage.gold) {
          EXPECT_TRUE(says(passage, item)) << passage.text;
          EXPECT_EQ(passage.title, item.labels.at("person"));
        } else {
          ++others;
          elsewhere += says(passage, item);
          EXPECT_EQ(passage.text.find(item.labels.at("person")), std::string::npos);
        }
      }
    }
    // Two people may by chance share a city or a field.
    EXPECT_LT(elsewhere * 20, others) << name_of(noise);
  }
}

TEST_F(WorldSet, GoldStandsWhereItWasAskedFor) {
  for (std::uint32_t position = 1; position <= 3; ++position) {
    for (const Item& item : set({.passages = 3, .gold_position = position})) {
      EXPECT_TRUE(item.passages[position - 1].gold);
    }
  }
  std::set<size_t> places;
  for (const Item& item : set({.passages = 3})) {
    const auto gold =
        std::find_if(item.passages.begin(), item.passages.end(), [](auto& p) { return p.gold; });
    places.insert(static_cast<size_t>(gold - item.passages.begin()));
  }
  EXPECT_EQ(places.size(), 3U);
}

TEST_F(WorldSet, SetsThatDifferInPassagesAskTheSameQuestions) {
  const auto closed = set({}), few = set({.passages = 2}), many = set({.passages = 10});
  for (size_t i = 0; i < closed.size(); ++i) {
    EXPECT_EQ(closed[i].question, few[i].question);
    EXPECT_EQ(closed[i].answers, many[i].answers);
  }
}

TEST_F(WorldSet, ALongerSetBeginsWithTheShorterOne) {
  const auto longer = set({.count = 20, .passages = 2}), shorter = set({.count = 5, .passages = 2});
  for (size_t i = 0; i < shorter.size(); ++i) {
    EXPECT_EQ(item_json(longer[i]), item_json(shorter[i]));
  }
}

TEST_F(WorldSet, SimilarNamesShareExactlyOneName) {
  for (const Item& item : set({.passages = 4, .noise = WorldNoise::kSimilarName})) {
    const std::string name = item.labels.at("person");
    const std::string first = name.substr(0, name.find(' ') + 1), family = name.substr(name.find(' '));
    for (const Passage& passage : item.passages) {
      if (passage.gold) continue;
      EXPECT_NE(passage.title.starts_with(first), passage.title.ends_with(family)) << passage.title;
    }
  }
}

TEST_F(WorldSet, AContradictionSaysSomethingElseOfTheSamePerson) {
  std::set<size_t> places;
  for (const Item& item : set({.passages = 3, .noise = WorldNoise::kContradiction})) {
    const std::string name = item.labels.at("person");
    size_t liars = 0;
    for (const Passage& passage : item.passages) {
      if (passage.gold || passage.title != name) continue;
      ++liars;
      places.insert(static_cast<size_t>(&passage - item.passages.data()));
      EXPECT_FALSE(says(passage, item)) << passage.text;
    }
    EXPECT_EQ(liars, 1U);
  }
  EXPECT_EQ(places.size(), 3U);
}

TEST_F(WorldSet, IrrelevantPassagesDoNotSpeakOfTheRelation) {
  const size_t relation = world_tables().relation("birth_date");
  for (const Item& item : set({.passages = 4, .noise = WorldNoise::kIrrelevant, .relation = relation})) {
    for (const Passage& passage : item.passages) {
      const bool dated =
          passage.text.find(" 19") != std::string::npos || passage.text.find(" 18") != std::string::npos;
      EXPECT_EQ(dated, passage.gold) << passage.text;
    }
  }
}

TEST_F(WorldSet, RepeatedPassagesAreOneAndTheSame) {
  for (const Item& item : set({.passages = 4, .noise = WorldNoise::kRepeated})) {
    std::set<std::string> texts;
    for (const Passage& passage : item.passages) texts.insert(passage.text);
    EXPECT_EQ(texts.size(), 2U);
  }
}

TEST_F(WorldSet, TwoHopsNeedBothGoldPassages) {
  for (const Item& item : set({.passages = 4, .two_hop = true})) {
    ASSERT_EQ(golds(item), 2U);
    EXPECT_EQ(item.labels.at("hops"), "2");
    const Passage *person = nullptr, *relative = nullptr;
    for (const Passage& passage : item.passages) {
      if (!passage.gold) continue;
      (passage.title == item.labels.at("person") ? person : relative) = &passage;
    }
    ASSERT_TRUE(person != nullptr && relative != nullptr);
    EXPECT_NE(person->text.find(relative->title), std::string::npos) << person->text;
    EXPECT_TRUE(says(*relative, item));
    EXPECT_NE(item.question.find(" of " + person->title), std::string::npos) << item.question;
  }
}

TEST_F(WorldSet, AskedPeopleKeepTheirFactsInPassages) {
  const auto closed = set({.people = WorldPeople::kReadOnly});
  for (const Item& item : set({.people = WorldPeople::kReadOnly, .passages = 2})) EXPECT_EQ(golds(item), 1U);
  EXPECT_EQ(closed[0].labels.at("kind"), "read-only");
}

TEST_F(WorldSet, ALineIsBuoysOwnLayout) {
  const Json json = item_json(set({.passages = 2})[0]);
  EXPECT_EQ(json["id"], "unknown-random-2-00000");
  EXPECT_TRUE(json["answers"].is_array());
  EXPECT_EQ(json["passages"].size(), 2U);
  EXPECT_TRUE(json["passages"][0]["gold"].is_boolean());
  EXPECT_EQ(json["labels"]["hops"], "1");
}

TEST_F(WorldSet, ContradictingOptionsAreRefused) {
  EXPECT_TRUE(
      fails_with<UsageError>([&] { set({.passages = 3, .gold_position = 4}); }, {"at most 3 passages"}));
  EXPECT_TRUE(fails_with<UsageError>([&] { set({.passages = 1, .two_hop = true}); }, {"two hops"}));
  EXPECT_TRUE(fails_with<UsageError>(
      [&] { set({.two_hop = true, .relation = world_tables().relation("mentor")}); }, {"mentor"}));
  EXPECT_TRUE(fails_with<UsageError>([&] { set({.passages = 1, .noise = WorldNoise::kContradiction}); },
                                     {"two passages or more"}));
  EXPECT_TRUE(fails_with<UsageError>([&] { set({.relation = 99}); }, {"a number below"}));
  const World nobody({.asked = 5, .read_only = 0});
  EXPECT_TRUE(fails_with<UsageError>([&] { make_world_set(nobody, {.people = WorldPeople::kReadOnly}); },
                                     {"a group with someone in it"}));
}

TEST(WorldNoise, NamesLeadBack) {
  for (const char* name :
       {"random", "irrelevant", "same-relation", "similar-name", "contradiction", "shuffled", "repeated"}) {
    EXPECT_EQ(name_of(world_noise_from_name(name)), name);
  }
  EXPECT_TRUE(fails_with<UsageError>([] { world_noise_from_name("loud"); }, {"random, irrelevant"}));
}

}  // namespace
}  // namespace buoy::world
