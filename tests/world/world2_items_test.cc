#include "buoy/world/world2_items.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "buoy/base/error.h"
#include "buoy/base/sha256.h"
#include "buoy/questions/data/item_json.h"
#include "buoy/questions/prompt/prompt_template.h"
#include "buoy/world/world2_tables.h"
#include "buoy/world/world2_text.h"
#include "support/fails_with.h"

namespace buoy::world {
namespace {

using questions::Item;
using questions::item_json;
using questions::Passage;
using questions::RegionSpan;
using questions::RenderedPrompt;

using testing::fails_with;
using Task = World2Task;

constexpr Task kAll[] = {Task::kLookup,    Task::kSimilarNames, Task::kTwoHop, Task::kNewest,
                         Task::kUndecided, Task::kList,         Task::kLife};

class World2Set : public ::testing::Test {
 protected:
  std::vector<Item> set(World2SetOptions options) const {
    options.count = std::min(options.count, 60U);
    return make_world2_set(world_, options);
  }

  static std::vector<const Passage*> golds(const Item& item) {
    std::vector<const Passage*> found;
    for (const auto& passage : item.passages) {
      if (passage.gold) found.push_back(&passage);
    }
    return found;
  }

  static bool says(const Passage& passage, const std::string& value) {
    return passage.text.find(' ' + value) != std::string::npos;
  }

  static int year(const Passage& passage) {
    const size_t at = passage.text.find("Record of ");
    return at == std::string::npos ? 0 : std::stoi(passage.text.substr(at + 10));
  }

  const World world_{{.version = 2}};
};

TEST_F(World2Set, IsAPureFunctionOfItsOptions) {
  for (const Task task : kAll) {
    const auto longer = set({.task = task, .count = 12, .passages = 5});
    const auto shorter = set({.task = task, .count = 4, .passages = 5});
    const auto other = set({.task = task, .count = 4, .passages = 5, .seed = 2});
    for (size_t i = 0; i < shorter.size(); ++i) {
      EXPECT_EQ(item_json(longer[i]), item_json(shorter[i]));
      EXPECT_NE(other[i].question, shorter[i].question);
    }
  }
}

// Scores of the family are scores on exactly these questions, in this order.
TEST_F(World2Set, IsTheOneTheFamilyWasAsked) {
  std::string lines;
  for (const Task task : kAll) {
    for (const Item& item : set({.task = task, .count = 20, .passages = 10})) {
      lines += item_json(item).dump() + '\n';
    }
  }
  EXPECT_EQ(sha256_hex(std::as_bytes(std::span(lines))),
            "2015563e52f7a0e5c26a607887d85a34bc2168cf39ba1c65e7e9447dae776168");
}

TEST_F(World2Set, SetsThatDifferInPassagesAskTheSameQuestions) {
  for (const Task task : kAll) {
    const auto few = set({.task = task, .passages = 2}), many = set({.task = task, .passages = 10});
    for (size_t i = 0; i < few.size(); ++i) {
      EXPECT_EQ(few[i].question, many[i].question);
      EXPECT_EQ(few[i].answers[0], many[i].answers[0]);
      EXPECT_EQ(many[i].passages.size(), 10U);
    }
  }
}

TEST_F(World2Set, FormsChangeNothingButThePrompt) {
  const auto drawn = set({.passages = 3});
  std::set<std::string> styles, wordings;
  for (const Item& item : drawn) {
    styles.insert(item.labels.at("style"));
    wordings.insert(item.labels.at("wording"));
  }
  EXPECT_EQ(styles.size(), world2_tables().styles.size());
  EXPECT_EQ(wordings.size(), world2_tables().wordings.size());
  std::set<std::string> prompts;
  for (size_t style = 0; style < styles.size(); ++style) {
    for (size_t wording = 0; wording < wordings.size(); ++wording) {
      const auto fixed = set({.passages = 3, .style = style, .wording = wording});
      EXPECT_TRUE(prompts.insert(*fixed[0].prompt).second) << *fixed[0].prompt;
      for (size_t i = 0; i < fixed.size(); ++i) {
        EXPECT_EQ(fixed[i].question, drawn[i].question);
        EXPECT_EQ(fixed[i].passages[1].text, drawn[i].passages[1].text);
        EXPECT_EQ(fixed[i].labels.at("style"), world2_tables().styles[style].name);
      }
    }
  }
}

// Labels lie outside the regions, so they count as template.
TEST_F(World2Set, PassagesAndQuestionAreRegionsOfThePrompt) {
  for (const Task task : kAll) {
    for (const Item& item : set({.task = task, .passages = 4})) {
      const RenderedPrompt prompt = ready_prompt(item);
      ASSERT_EQ(prompt.regions.size(), 5U) << *item.prompt;
      for (size_t i = 0; i < 4; ++i) {
        const RegionSpan& region = prompt.regions[i];
        EXPECT_EQ(prompt.text.substr(region.begin, region.end - region.begin), item.passages[i].text);
      }
    }
  }
}

TEST_F(World2Set, OnlyGoldPassagesHoldTheAnswer) {
  for (const Task task : {Task::kLookup, Task::kSimilarNames, Task::kTwoHop}) {
    size_t elsewhere = 0, others = 0;
    for (const Item& item : set({.task = task, .passages = 10})) {
      std::set<std::string> titles;
      for (const Passage& passage : item.passages) {
        EXPECT_TRUE(titles.insert(passage.title).second) << passage.title;
        if (!passage.gold) {
          ++others;
          elsewhere += says(passage, item.answers[0]);
        }
      }
      const bool said = std::any_of(item.passages.begin(), item.passages.end(),
                                    [&](const Passage& p) { return p.gold && says(p, item.answers[0]); });
      EXPECT_TRUE(said);
    }
    EXPECT_LT(elsewhere * 50, others) << name_of(task);  // a city may be both birthplace and home
  }
}

TEST_F(World2Set, NamesAreHeldOut) {
  const WorldTables& tables = world_tables();
  const auto place = [](const std::vector<std::string>& list, const std::string& name) {
    return static_cast<std::uint32_t>(std::find(list.begin(), list.end(), name) - list.begin());
  };
  for (const Task task : kAll) {
    for (const Item& item : set({.task = task, .passages = 10})) {
      for (const Passage& passage : item.passages) {
        const size_t space = passage.title.find(' ');
        EXPECT_TRUE(is_held_out_name(place(tables.first_names, passage.title.substr(0, space)),
                                     place(tables.family_names, passage.title.substr(space + 1))))
            << passage.title;
      }
    }
  }
}

TEST_F(World2Set, SimilarNamesAreSharedByMany) {
  for (const std::uint32_t passages : {2U, 5U, 10U, 20U}) {
    for (const Item& item : set({.task = Task::kSimilarNames, .passages = passages})) {
      std::map<std::string, size_t> firsts, families;
      const auto first = [](const std::string& name) { return name.substr(0, name.find(' ')); };
      const auto family = [](const std::string& name) { return name.substr(name.find(' ') + 1); };
      for (const Passage& passage : item.passages) {
        ++firsts[first(passage.title)];
        ++families[family(passage.title)];
      }
      const std::string person = item.labels.at("person");
      EXPECT_GE(firsts[first(person)], 2U);
      if (passages > 2) {
        EXPECT_GE(families[family(person)], 2U);
        EXPECT_LE(firsts.size() * firsts.size(), passages + 2 * firsts.size());
      }
    }
  }
}

TEST_F(World2Set, TwoHopsHaveChainsEverywhere) {
  for (const Item& item : set({.task = Task::kTwoHop, .passages = 6})) {
    ASSERT_EQ(golds(item).size(), 2U);
    for (const Passage& passage : item.passages) {
      const bool names_another = std::any_of(
          item.passages.begin(), item.passages.end(),
          [&](const Passage& other) { return other.title != passage.title && says(passage, other.title); });
      EXPECT_TRUE(names_another) << passage.text;
    }
    const auto own = std::find_if(item.passages.begin(), item.passages.end(),
                                  [&](const Passage& p) { return p.title == item.labels.at("person"); });
    for (const Passage* gold : golds(item)) {
      if (gold->title == own->title) continue;
      EXPECT_TRUE(says(*own, gold->title)) << own->text;
      EXPECT_TRUE(says(*gold, item.answers[0])) << gold->text;
    }
  }
}

TEST_F(World2Set, TheNewestRecordIsRight) {
  for (const Item& item : set({.task = Task::kNewest, .passages = 5})) {
    ASSERT_EQ(golds(item).size(), 1U);
    EXPECT_TRUE(item.question.ends_with("The newest record counts.")) << item.question;
    const Passage& gold = *golds(item)[0];
    size_t rivals = 0;
    for (const Passage& passage : item.passages) {
      EXPECT_GE(year(passage), 2000) << passage.text;
      if (passage.gold || passage.title != gold.title) continue;
      ++rivals;
      EXPECT_LT(year(passage), year(gold));
      EXPECT_TRUE(says(passage, item.labels.at("rival"))) << passage.text;
    }
    EXPECT_EQ(rivals, 1U);
    EXPECT_TRUE(says(gold, item.answers[0]));
    EXPECT_NE(item.labels.at("rival"), item.answers[0]);
  }
}

TEST_F(World2Set, WhereNothingDecidesBothValuesAreAccepted) {
  std::set<bool> own_first;
  for (const Item& item : set({.task = Task::kUndecided, .passages = 5})) {
    const auto found = golds(item);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_TRUE(says(*found[0], item.labels.at("first")));
    EXPECT_TRUE(says(*found[1], item.labels.at("second")));
    EXPECT_NE(item.labels.at("first"), item.labels.at("second"));
    own_first.insert(item.labels.at("first") == item.answers[0]);
    for (const char* label : {"first", "second"}) {
      EXPECT_NE(std::find(item.answers.begin(), item.answers.end(), item.labels.at(label)),
                item.answers.end());
    }
    for (const Passage& passage : item.passages) EXPECT_EQ(year(passage), 0);
  }
  EXPECT_EQ(own_first.size(), 2U);
}

TEST_F(World2Set, LongAnswersHave16To32TokensAndStandInThePassage) {
  for (const Task task : {Task::kList, Task::kLife}) {
    for (const Item& item : set({.task = task, .passages = 5})) {
      EXPECT_GE(world_token_count(item.answers[0]), 16U) << item.answers[0];
      EXPECT_LE(world_token_count(item.answers[0]), 32U) << item.answers[0];
      ASSERT_EQ(golds(item).size(), 1U);
      if (task != Task::kList) continue;
      size_t at = 0;  // every value of the list is said, and nothing else is
      size_t facts = 0;
      for (; at != std::string::npos; ++facts) {
        const size_t value = item.answers[0].find(": ", at) + 2, end = item.answers[0].find(';', value);
        EXPECT_TRUE(says(*golds(item)[0], item.answers[0].substr(value, end - value)));
        at = end;
      }
      const std::string& text = golds(item)[0]->text;
      EXPECT_EQ(facts, static_cast<size_t>(std::count(text.begin(), text.end(), '.')));
    }
  }
}

TEST_F(World2Set, ClosedBookHasNoPassages) {
  for (const WorldPeople people : {WorldPeople::kAsked, WorldPeople::kReadOnly, WorldPeople::kUnknown}) {
    for (const Item& item : set({.people = people})) {
      EXPECT_TRUE(item.passages.empty());
      EXPECT_EQ(item.labels.at("kind"), name_of(people));
      EXPECT_EQ(item.prompt->find("records"), std::string::npos) << *item.prompt;
    }
  }
}

TEST_F(World2Set, ContradictingOptionsAreRefused) {
  EXPECT_TRUE(
      fails_with<UsageError>([] { make_world2_set(World(), {}); }, {"version of the world", "2", "1"}));
  EXPECT_TRUE(fails_with<UsageError>([] { World({.version = 3}); }, {"version of the world", "1 or 2", "3"}));
  EXPECT_TRUE(fails_with<UsageError>([&] { set({.passages = 27}); }, {"at most 26"}));
  EXPECT_TRUE(fails_with<UsageError>([&] { set({.task = Task::kTwoHop, .passages = 1}); }, {"2 or more"}));
  EXPECT_TRUE(fails_with<UsageError>([&] { set({.task = Task::kList}); }, {"1 or more"}));
  EXPECT_TRUE(fails_with<UsageError>(
      [&] { set({.task = Task::kLife, .people = WorldPeople::kAsked, .passages = 2}); }, {"unknown"}));
  EXPECT_TRUE(fails_with<UsageError>([&] { set({.style = 5}); }, {"a number below 5"}));
  EXPECT_TRUE(fails_with<UsageError>([&] { set({.wording = 2}); }, {"a number below 2"}));
}

TEST(World2Task, NamesLeadBack) {
  for (const Task task : kAll) EXPECT_EQ(world2_task_from_name(name_of(task)), task);
  EXPECT_TRUE(fails_with<UsageError>([] { world2_task_from_name("chess"); }, {"lookup, similar-names"}));
}

}  // namespace
}  // namespace buoy::world
