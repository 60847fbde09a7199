#include "buoy/world/haystack.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include "buoy/base/error.h"
#include "buoy/questions/data/evidence.h"
#include "buoy/questions/passages.h"
#include "buoy/questions/prompt/prompt_template.h"
#include "buoy/world/hay.h"
#include "support/fails_with.h"

namespace buoy::world {
namespace {

using questions::find_evidence;
using testing::fails_with;

// A token for every three bytes, and four of a chat template.
std::size_t thirds(const std::string& prompt) {
  return prompt.size() / 3 + 4;
}

std::vector<Haystack> made(const HaystackRequest& request) {
  return make_haystacks(request, thirds);
}

const questions::Passage& gold(const Haystack& haystack) {
  const auto places = questions::gold_positions(haystack.item);
  return haystack.item.passages.at(places.at(0) - 1);
}

// Bytes of filler before the needle over those of all filler.
double share_before(const Haystack& haystack) {
  double before = 0, all = 0;
  bool behind = false;
  for (const auto& passage : haystack.item.passages) {
    if (passage.gold) {
      behind = true;
      continue;
    }
    all += static_cast<double>(passage.text.size());
    if (!behind) before += static_cast<double>(passage.text.size());
  }
  return before / all;
}

const std::string kText =
    "The harbour was empty that morning. A boat came in with the tide! Who had sent it? \"Nobody,\" said the "
    "keeper of the light.\n\nShe went down to the water.  It rained for an hour and then it stopped. Gulls "
    "followed the boat as far as the pier.";

TEST(Haystack, IsAsLongAsAskedAndCountsItsTokens) {
  for (const auto& request : {HaystackRequest{.lengths = {400, 1200}, .per_cell = 2},
                              HaystackRequest{.lengths = {400, 1200}, .per_cell = 2, .version = 2},
                              HaystackRequest{.lengths = {400, 1200}, .per_cell = 2, .filler = kText},
                              HaystackRequest{.kind = "key-values", .lengths = {400, 1200}, .per_cell = 2}}) {
    const auto all = made(request);
    ASSERT_EQ(all.size(), 2U * 2U * 5U);
    for (const auto& haystack : all) {
      const auto& labels = haystack.item.labels;
      const auto length = static_cast<std::size_t>(std::stoi(labels.at("length")));
      EXPECT_EQ(haystack.tokens, thirds(*haystack.item.prompt));
      EXPECT_LE(haystack.tokens, length);
      EXPECT_GT(haystack.tokens + (request.filler ? 6 : 50), length) << haystack.item.id;
      EXPECT_EQ(labels.at("kind"), request.kind);
    }
  }
}

TEST(Haystack, TheNeedleStandsAtItsDepth) {
  for (const auto& haystack : made({.lengths = {4000}, .depths = {0, 30, 50, 100}, .per_cell = 2})) {
    const double depth = std::stod(haystack.item.labels.at("depth")) / 100;
    EXPECT_NEAR(share_before(haystack), depth, 0.02) << haystack.item.id;
    EXPECT_EQ(haystack.item.passages.size(), depth == 0 || depth == 1 ? 2U : 3U);
  }
}

TEST(Haystack, EveryLengthAndDepthAsksTheSameAndALongerOneBeginsAsTheShorterOne) {
  const auto all = made({.lengths = {500, 2000}, .depths = {0, 100}, .per_cell = 2});
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& first = all[i < 4 ? 0 : 4];
    EXPECT_EQ(all[i].item.question, first.item.question);
    EXPECT_EQ(gold(all[i]).text, gold(first).text);
  }
  EXPECT_NE(all[0].item.question, all[4].item.question);
  const std::string shorter = all[1].item.passages[0].text, longer = all[3].item.passages[0].text;
  EXPECT_GT(longer.size(), 2 * shorter.size());
  const std::size_t same = shorter.rfind("\nPassage");  // the last one comes near the length, and may differ
  ASSERT_NE(same, std::string::npos);
  EXPECT_EQ(longer.substr(0, same), shorter.substr(0, same));
}

TEST(Haystack, OnlyTheNeedleHoldsTheAnswer) {
  for (const auto& request :
       {HaystackRequest{.lengths = {3000}, .depths = {50}, .per_cell = 20},
        HaystackRequest{.lengths = {3000}, .depths = {50}, .per_cell = 20, .version = 2},
        HaystackRequest{.lengths = {600}, .depths = {50}, .per_cell = 5, .filler = kText},
        HaystackRequest{.kind = "key-values", .lengths = {3000}, .depths = {50}, .per_cell = 5}}) {
    for (const auto& haystack : made(request)) {
      for (const auto& passage : haystack.item.passages)
        EXPECT_EQ(find_evidence(passage.text, haystack.item.answers).empty(), !passage.gold)
            << haystack.item.id << ": " << passage.text;
    }
  }
}

// What analyses know of the evidence comes from the regions of the ready prompt.
TEST(Haystack, TheReadyPromptHasTheNeedleAsARegionAndItsEvidence) {
  for (const std::string kind : {"needle", "key-values"}) {
    for (const auto& haystack : made({.kind = kind, .lengths = {700}, .depths = {0, 40}, .per_cell = 2})) {
      const auto prompt = questions::ready_prompt(haystack.item);
      const auto place = questions::gold_positions(haystack.item).at(0);
      const auto region = std::find_if(prompt.regions.begin(), prompt.regions.end(), [&](const auto& r) {
        return r.name == questions::document_region(place);
      });
      ASSERT_NE(region, prompt.regions.end());
      EXPECT_EQ(prompt.text.substr(region->begin, region->end - region->begin), gold(haystack).text);
      ASSERT_EQ(prompt.evidence.size(), find_evidence(gold(haystack).text, haystack.item.answers).size());
      EXPECT_GE(prompt.evidence[0].begin, region->begin);
      EXPECT_LE(prompt.evidence[0].end, region->end);
      EXPECT_EQ(prompt.regions.back().name, "query");
    }
  }
}

TEST(Haystack, PairsAreAnObjectWithTheAskedKeyInIt) {
  for (const std::uint32_t needles : {1U, 3U}) {
    for (const auto& haystack : made({.kind = "key-values",
                                .lengths = {1500},
                                .depths = {0, 70},
                                .per_cell = 2,
                                .needles = needles})) {
      const std::string& prompt = *haystack.item.prompt;
      const std::size_t open = prompt.find('{'), close = prompt.rfind('}');
      const auto object = nlohmann::ordered_json::parse(prompt.substr(open, close - open + 1));
      EXPECT_GT(object.size(), 40U);
      std::string values;
      for (const auto& passage : haystack.item.passages) {
        if (!passage.gold) continue;
        const auto pair = nlohmann::json::parse("{" + passage.text + "}");
        EXPECT_NE(haystack.item.question.find(pair.begin().key()), std::string::npos);
        EXPECT_EQ(object.at(pair.begin().key()), pair.begin().value());
      }
      EXPECT_EQ(questions::gold_positions(haystack.item).size(), needles);
      const auto& answer = haystack.item.answers.at(0);
      EXPECT_EQ(answer.size(), needles * 36 + (needles - 1) * 2) << answer;
    }
  }
  // In the order they are asked for.
  const auto haystack =
      made({.kind = "key-values", .lengths = {900}, .depths = {0}, .per_cell = 1, .needles = 2});
  const auto& item = haystack.at(0).item;
  const auto first = nlohmann::json::parse("{" + item.passages.at(0).text + "}");
  EXPECT_TRUE(item.answers[0].starts_with(first.begin().value().get<std::string>()));
  EXPECT_LT(item.question.find(first.begin().key()), item.question.find(", "));
}

TEST(Haystack, TwoNeedlesAreAQuestionInTwoHops) {
  for (const std::uint32_t version : {1U, 2U}) {
    const auto haystack =
        made({.lengths = {2000}, .depths = {20}, .per_cell = 1, .needles = 2, .version = version}).at(0);
    EXPECT_EQ(questions::gold_positions(haystack.item), (std::vector<std::size_t>{2, 4}));
    EXPECT_NEAR(static_cast<double>(haystack.item.passages[0].text.size()) / 1000, 1.05, 0.3);
  }
}

TEST(Haystack, DependsOnItsSeedAndOnNothingElse) {
  const HaystackRequest request{.lengths = {800}, .depths = {50}, .per_cell = 3, .seed = 7};
  const auto lines = [](const std::vector<Haystack>& all) {
    std::vector<std::string> out;
    for (const auto& haystack : all) out.push_back(haystack_line(haystack));
    return out;
  };
  const auto once = lines(made(request));
  EXPECT_EQ(lines(made(request)), once);
  auto fewer = request;
  fewer.per_cell = 2;
  EXPECT_EQ(lines(made(fewer)), (std::vector<std::string>{once[0], once[1]}));
  auto other = request;
  other.seed = 8;
  EXPECT_NE(lines(made(other))[0], once[0]);
  const auto line = nlohmann::json::parse(once[0]);
  EXPECT_EQ(line["tokens"], thirds(line["prompt"]));
  EXPECT_EQ(line["labels"]["depth"], "50");
}

TEST(Haystack, SentencesOfATextAreWhole) {
  EXPECT_EQ(sentences_of(kText).size(), 7U);
  EXPECT_EQ(sentences_of(kText)[3], "\"Nobody,\" said the keeper of the light.");
  EXPECT_EQ(sentences_of(kText)[5], "It rained for an hour and then it stopped.");
  std::string endless;
  for (int i = 0; i < 130; ++i) endless += "word ";
  EXPECT_EQ(sentences_of(endless).size(), 3U);
  EXPECT_TRUE(sentences_of(" \n\t").empty());
}

TEST(Haystack, RefusesByName) {
  const auto refused = [](const HaystackRequest& request, std::initializer_list<std::string> parts) {
    return fails_with<UsageError>([&] { made(request); }, parts);
  };
  EXPECT_TRUE(
      refused({.kind = "needles", .lengths = {100}}, {"`kind`", "needle, key-values", "\"needles\""}));
  EXPECT_TRUE(refused({.lengths = {}}, {"`lengths`", "at least one"}));
  EXPECT_TRUE(refused({.lengths = {0}}, {"`lengths`", "from 1", "0"}));
  EXPECT_TRUE(refused({.lengths = {500, 500}}, {"`lengths`", "500 twice"}));
  EXPECT_TRUE(refused({.lengths = {500}, .depths = {101}}, {"`depths`", "from 0 to 100", "101"}));
  EXPECT_TRUE(refused({.lengths = {500}, .per_cell = 0}, {"`per_cell`"}));
  EXPECT_TRUE(refused({.lengths = {500}, .needles = 3}, {"`needles`", "1 to 2 with needle", "3"}));
  EXPECT_TRUE(refused({.lengths = {500}, .version = 3}, {"`version`", "1 or 2", "3"}));
  EXPECT_TRUE(
      refused({.kind = "key-values", .lengths = {500}, .filler = kText}, {"`filler`", "needle only"}));
  EXPECT_TRUE(refused({.kind = "key-values", .lengths = {500}, .version = 2}, {"`version`", "needle only"}));
  EXPECT_TRUE(refused({.lengths = {40}}, {"`lengths`", "of needles and question alone", "40"}));
}

TEST(Haystack, RefusesFillersThatCannotBeUsed) {
  const auto refused = [](const std::string& filler, std::initializer_list<std::string> parts) {
    return fails_with<InputError>([&] { made({.lengths = {400}, .per_cell = 1, .filler = filler}); }, parts);
  };
  EXPECT_TRUE(refused("", {"`filler`", "text", "white space"}));
  EXPECT_TRUE(refused(" \n ", {"`filler`", "text", "white space"}));
  EXPECT_TRUE(refused("a \xFF b.", {"`filler`", "UTF-8", "offset 2"}));
  const auto answer = made({.lengths = {400}, .depths = {0}, .per_cell = 1}).at(0).item.answers.at(0);
  EXPECT_TRUE(refused("They say " + answer + ".", {"`filler`", "holds no answer"}));
}

}  // namespace
}  // namespace buoy::world
