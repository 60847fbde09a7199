#include "buoy/run/condition.h"
#include "buoy/run/identity.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "buoy/base/error.h"
#include "buoy/base/file/json_file.h"
#include "support/fails_with.h"

namespace buoy::run {
namespace {

using questions::Item;
using questions::Noise;
using testing::fails_with;

// Passages named by letters; a gold one is a capital and says the answer in its first sentence.
Item item_of(const std::string& letters, const std::string& id = "one") {
  Item item{id, "Q?", {"answer of " + id}, {}, "ready", {}, {}};
  for (const char c : letters) {
    const bool gold = c >= 'A' && c <= 'Z';
    item.passages.push_back({std::string(1, c),
                             gold ? "The answer of " + id + " is here. Another sentence." : "Nothing here.",
                             gold,
                             {}});
  }
  return item;
}

std::string order(const Item& item) {
  std::string letters;
  for (const auto& passage : item.passages) letters += passage.title;
  return letters;
}

std::string arranged(const std::string& letters, const Condition& condition) {
  return order(arrange(item_of(letters), condition));
}

TEST(Condition, PassagesAreKeptDroppedAndMoved) {
  Condition c;
  EXPECT_EQ(arranged("abGd", c), "abGd") << "all as they are";
  c.passages = 2;
  EXPECT_EQ(arranged("abGd", c), "ab") << "the first, as a reader of a ranking would";
  c.passages = 9;
  EXPECT_EQ(arranged("abGd", c), "abGd");
  c.closed_book = true;
  EXPECT_EQ(arranged("abGd", c), "");

  c = Condition{};
  c.gold_position = 1;
  EXPECT_EQ(arranged("abGd", c), "Gabd");
  c.gold_position = 4;
  EXPECT_EQ(arranged("abGd", c), "abdG");
  c.passages = 2;
  c.gold_position = 2;
  EXPECT_EQ(arranged("abGd", c), "aG") << "among two, and never lost";
  c.gold_position = 3;
  EXPECT_TRUE(fails_with<InputError>([&] { arranged("abGd", c); }, {"item one", "3"}));
  c.gold_position = 1;
  EXPECT_TRUE(fails_with<InputError>([&] { arranged("abcd", c); }, {"item one", "marked gold", "none in 4"}));
}

TEST(Condition, PassagesThatHoldAnAnswerAreGoldWhenAskedTo) {
  Condition c;
  c.gold_by_answer = true;
  c.gold_position = 1;
  Item item = item_of("abc");
  item.passages[2].text = "It is the ANSWER of one!";
  EXPECT_EQ(order(arrange(item, c)), "cab");
  item.passages[1].has_answer = true;
  EXPECT_EQ(order(arrange(item, c)), "bac") << "what the data says counts first";
  item.passages[0].gold = true;
  EXPECT_EQ(order(arrange(item, c)), "abc") << "what is marked stays";
}

TEST(Condition, EvidenceIsSplitAmongAsManyOthersWhateverTheParts) {
  Condition c;
  c.evidence_parts = 2;
  EXPECT_EQ(arranged("abG", c), "GaGb");
  EXPECT_EQ(arrange(item_of("abG"), c).passages[0].text, "The answer of one is here.");
  c.passages = 2;
  EXPECT_EQ(arranged("abcG", c), "GaG") << "one other passage, the gold one in two parts";
  c.passages = -1;
  c.gold_position = 1;
  EXPECT_EQ(arranged("abcdG", c).size(), 6u);
  c.evidence_parts = 3;
  EXPECT_TRUE(fails_with<InputError>([&] { arranged("abG", c); }, {"item one", "3 sentences", "2"}));
  // A sweep compares the same other passages at all its values.
  Condition base;
  base.passages = 2;
  const auto parts = sweep("evidence=1-2", base);
  EXPECT_EQ(arranged("abcG", parts[0]), "aG");
  EXPECT_EQ(arranged("abcG", parts[1]), "GaG");
}

TEST(Condition, NoiseTakesThePlaceOfTheItemsOwnPassages) {
  std::vector<Item> items = {item_of("abG", "one"), item_of("cdH", "two"), item_of("efI", "three")};
  const questions::NoisePool pool(items);
  Condition c;
  c.noise = 2;
  const auto noisy = [&](std::uint64_t seed) { return arrange(items[0], c, {&pool, 0, seed}); };
  EXPECT_EQ(noisy(1).passages.size(), 3u);
  EXPECT_EQ(order(noisy(1)).find('a'), std::string::npos);
  EXPECT_EQ(order(noisy(1)), order(noisy(1)));
  c.passages = 1;
  EXPECT_EQ(noisy(1).passages.size(), 3u) << "the count of noise is the count";
  c.gold_position = 3;
  EXPECT_EQ(order(noisy(1)).back(), 'G');
  c.noise = 0;
  c.gold_position = 0;
  EXPECT_EQ(order(noisy(1)), "G");
  c.noise = 3;
  EXPECT_TRUE(fails_with<InputError>([&] { noisy(1); }, {"item one", "random", "3"}));
  EXPECT_TRUE(fails_with<InputError>(
      [&] {
        arrange(item_of("ab"), c, {&pool, 0, 1});
      },
      {"item one", "marked gold"}));
}

TEST(Condition, DecodingTakesWhatTheConditionSays) {
  DecodeOptions run;
  run.max_new_tokens = 32, run.seed = 4, run.temperature = 0.5;
  const DecodeOptions same = decoding_of({}, run);
  EXPECT_EQ(same.max_new_tokens, 32);
  EXPECT_EQ(same.seed, 4u);
  EXPECT_FALSE(same.steps || same.algorithm);
  Condition c;
  c.slots = 8, c.steps = 2, c.order = "random", c.seed = 9;
  const DecodeOptions other = decoding_of(c, run);
  EXPECT_EQ(other.max_new_tokens, 8);
  EXPECT_EQ(other.steps, 2);
  EXPECT_EQ(other.algorithm, "random");
  EXPECT_EQ(other.seed, 9u);
  EXPECT_EQ(other.temperature, 0.5);
}

TEST(Sweep, EveryAxisSetsItsOwnFieldAndKeepsTheBase) {
  Condition base;
  base.passages = 7;
  base.noise_kind = Noise::kShuffled;
  const auto one = [&](const std::string& text) {
    const auto all = sweep(text, base);
    EXPECT_EQ(all.size(), 1u) << text;
    EXPECT_EQ(all[0].name, text);
    EXPECT_EQ(all[0].axis + "=" + all[0].value, text);
    EXPECT_EQ(all[0].noise_kind, text == "noise-kind=repeated" ? Noise::kRepeated : Noise::kShuffled);
    if (all[0].axis != "passages") {
      EXPECT_EQ(all[0].passages, 7) << text;
    }
    return all[0];
  };
  EXPECT_EQ(one("passages=3").passages, 3);
  EXPECT_FALSE(one("passages=3").closed_book);
  EXPECT_TRUE(one("passages=0").closed_book);
  EXPECT_EQ(one("gold-position=2").gold_position, 2);
  EXPECT_EQ(one("noise=0").noise, 0u);
  EXPECT_EQ(one("noise=4").noise, 4u);
  one("noise-kind=repeated");
  EXPECT_EQ(one("evidence=3").evidence_parts, 3);
  EXPECT_EQ(one("slots=16").slots, 16);
  EXPECT_EQ(one("steps=4").steps, 4);
  EXPECT_EQ(one("order=entropy").order, "entropy");
  EXPECT_EQ(one("prompt=shared-passages").prompt, "shared-passages");
  EXPECT_EQ(one("seed=0").seed, 0u);
  const std::string help = describe_sweeps();
  for (const char* axis : {"passages", "gold-position", "noise", "noise-kind", "evidence", "slots", "steps",
                           "order", "prompt", "seed"})
    EXPECT_NE(help.find(std::string("  ") + axis + " "), std::string::npos) << axis;
}

TEST(Sweep, RangesAndListsKeepTheirOrder) {
  std::string names;
  for (const auto& condition : sweep("gold-position=10,1-3", {})) names += condition.name + " ";
  EXPECT_EQ(names, "gold-position=10 gold-position=1 gold-position=2 gold-position=3 ");
  names.clear();
  for (const auto& condition : sweep("noise-kind=shuffled,random", {})) names += condition.name + " ";
  EXPECT_EQ(names, "noise-kind=shuffled noise-kind=random ");
}

TEST(Sweep, SaysWhatIsWrong) {
  const auto refused = [](const std::string& text, std::initializer_list<std::string> said) {
    return fails_with<UsageError>([&] { sweep(text, {}); }, said);
  };
  EXPECT_TRUE(refused("noise", {"`sweep`", "AXIS=VALUES", "\"noise\""}));
  EXPECT_TRUE(refused("volume=1", {"`sweep`", "passages, gold-position", "seed", "\"volume\""}));
  EXPECT_TRUE(refused("noise=loud", {"`sweep` noise", "numbers and ranges", "\"loud\""}));
  EXPECT_TRUE(refused("noise=3-1", {"`sweep` noise", "go up", "3-1"}));
  EXPECT_TRUE(refused("noise=", {"`sweep` noise", "at least one value"}));
  EXPECT_TRUE(refused("noise-kind=loud", {"noise", "random", "repeated", "\"loud\""}));
  EXPECT_TRUE(refused("noise=1,1", {"`sweep` noise", "once", "\"1\" twice"}));
  EXPECT_TRUE(refused("noise=1-3,2", {"`sweep` noise", "once", "\"2\" twice"}));
  for (const char* axis : {"gold-position", "evidence", "slots", "steps"})
    EXPECT_TRUE(refused(std::string(axis) + "=0-2", {std::string("`sweep` ") + axis, "from 1", "0"}));
}

TEST(Sweep, NumbersAreNotCutToFewerBits) {
  const auto refused = [](const std::string& text, std::initializer_list<std::string> said) {
    return fails_with<UsageError>([&] { sweep(text, {}); }, said);
  };
  EXPECT_TRUE(refused("slots=4294967298", {"`sweep` slots", "2147483647", "4294967298"}));
  EXPECT_TRUE(refused("steps=4294967298", {"`sweep` steps", "2147483647", "4294967298"}));
  EXPECT_EQ(sweep("slots=2147483647", {})[0].slots, 2147483647);
}

TEST(Sweep, APlaceBeyondThePassagesIsRefused) {
  Condition base;
  base.passages = 3;
  EXPECT_TRUE(fails_with<UsageError>([&] { sweep("gold-position=1-5", base); }, {"gold", "1 to 3", "4"}));
  EXPECT_EQ(sweep("gold-position=1-3", base).size(), 3u);
  base.noise = 9;
  EXPECT_EQ(sweep("gold-position=1-5", base).size(), 5u) << "with noise the items say how many there are";
  base = {};
  base.gold_position = 2;
  EXPECT_TRUE(fails_with<UsageError>([&] { sweep("passages=1", base); }, {"gold", "1 to 1", "2"}));
  EXPECT_TRUE(sweep("passages=0,2", base)[0].closed_book);
}

TEST(Condition, IsDescribedByWhatItSaysAndNothingElse) {
  EXPECT_EQ(describe(Condition{}), Json({{"name", "passages"}}));
  Condition c = sweep("noise=2", {})[0];
  c.gold_by_answer = true;
  EXPECT_EQ(describe(c), Json::parse(R"({"name": "noise=2", "noise": {"count": 2, "kind": "random"},
                                         "gold_by_answer": true, "sweep": {"axis": "noise", "value": "2"}})"));
  // Conditions that ask otherwise are described otherwise.
  std::set<std::string> seen;
  for (const char* text : {"passages=1", "gold-position=1", "noise=1", "evidence=2", "slots=1", "steps=1",
                           "order=a", "prompt=a", "seed=1"}) {
    Condition one = sweep(text, {})[0];
    one.name = one.axis = one.value = "";
    EXPECT_TRUE(seen.insert(describe(one).dump()).second) << text;
  }
}

TEST(HiddenKeys, AreASweepWithItsControlsBesideIt) {
  Condition base;
  base.passages = 7;
  ConditionRequest request;
  request.base = base;
  request.sweep = "hidden-keys=0,1,5";
  request.hide_control = "random,mass";
  const auto all = make_conditions(request);
  ASSERT_EQ(all.size(), 7u);
  EXPECT_EQ(all[0].name, "hidden-keys=0");
  EXPECT_EQ(all[4].name, "hidden-keys-random=5");
  EXPECT_EQ(all[6].axis, "hidden-keys-mass");
  for (const auto& condition : all) {
    ASSERT_TRUE(condition.top);
    EXPECT_EQ(condition.passages, 7);
    EXPECT_EQ(std::to_string(condition.top->keys), condition.value);
    EXPECT_TRUE(applies(condition, false));
  }
  EXPECT_TRUE(all[4].top->control == TopControl::kRandom && all[6].top->control == TopControl::kMass);
  EXPECT_NE(all[4].top_text, all[6].top_text);
  request.hide_control = "";
  request.hide_top_of = "rule:rulli_sum";
  EXPECT_TRUE(make_conditions(request)[2].top->rule == analysis::Rule::kRulliSum);
}

TEST(HeadsOff, AreASweepWithDrawnOnesBesideIt) {
  ConditionRequest request;
  request.sweep = "heads-off=0,1,3";
  EXPECT_TRUE(
      fails_with<UsageError>([&] { make_conditions(request); }, {"`sweep` heads-off", "`heads_from`"}));
  request.heads = HeadStudy{{}, 0.05, 2};
  const auto all = make_conditions(request);
  ASSERT_EQ(all.size(), 7u);
  EXPECT_EQ(all[0].name, "heads-off=0");
  EXPECT_EQ(all[2].name, "heads-off=3");
  EXPECT_EQ(all[6].name, "heads-off-random-2=3");
  for (const char* wrong : {"heads-off=", "heads-off=1,1", "heads-off=x"}) {
    request.sweep = wrong;
    EXPECT_TRUE(fails_with<UsageError>([&] { make_conditions(request); }, {"`sweep` heads-off"})) << wrong;
  }
  request.sweep = "slots=4";
  EXPECT_TRUE(fails_with<UsageError>([&] { make_conditions(request); }, {"more than one"}));
}

TEST(HiddenKeys, ThatCannotBeAreRefused) {
  const auto refuses = [](const std::string& sweep, const std::string& of, const std::string& control,
                          std::initializer_list<std::string> said) {
    ConditionRequest request;
    request.sweep = sweep;
    request.hide_top_of = of;
    request.hide_control = control;
    return fails_with<UsageError>([&] { make_conditions(request); }, said);
  };
  EXPECT_TRUE(refuses("hidden-keys=", "", "", {"`sweep` hidden-keys", "at least one value"}));
  EXPECT_TRUE(refuses("hidden-keys=x", "", "", {"`sweep` hidden-keys", "x"}));
  EXPECT_TRUE(refuses("hidden-keys=1,1", "", "", {"`sweep` hidden-keys", "each value once"}));
  EXPECT_TRUE(refuses("hidden-keys=1", "trace:runs/x", "", {"`hide_top_of`", "rule:NAME", "trace:runs/x"}));
  EXPECT_TRUE(refuses("hidden-keys=1", "", "random,random", {"`hide_control`", "each kind once"}));
  EXPECT_TRUE(refuses("hidden-keys=1", "", "all", {"`hide_control`", "random or mass", "all"}));
  EXPECT_TRUE(refuses("slots=4", "", "random", {"`hide_control`", "hidden-keys"}));
  EXPECT_TRUE(refuses("", "step-before", "", {"`hide_top_of`", "hidden-keys"}));
}

}  // namespace
}  // namespace buoy::run
