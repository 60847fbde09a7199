// One token per step, driven by made-up logits.

#include "buoy/decode/autoregressive.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "decode/fake_logits.h"

namespace buoy {
namespace {

using namespace testing;
using decode::AutoregressiveMachine;
using decode::AutoregressiveOptions;

const Ids kPrompt = {3, 4, 5};

AutoregressiveOptions options(std::int32_t generated, Ids eos = {}) {
  AutoregressiveOptions o;
  o.max_new_tokens = generated;
  o.eos_tokens = std::move(eos);
  return o;
}

Ids generate(const AutoregressiveOptions& o, const FakeModel& model) {
  AutoregressiveMachine machine(kPrompt, o, {0, 0});
  run_to_the_end(machine, model);
  return generated_of(machine);
}

TEST(Autoregressive, WritesMaxNewTokensWithoutAnEnd) {
  EXPECT_EQ(generate(options(1), row_number_model()), (Ids{2}));
  EXPECT_EQ(generate(options(5), row_number_model()), (Ids{2, 3, 4, 5, 6}));
}

TEST(Autoregressive, StopsAtAnyEndTokenAndKeepsIt) {
  EXPECT_EQ(generate(options(10, {5}), row_number_model()), (Ids{2, 3, 4, 5}));
  EXPECT_EQ(generate(options(10, {9, 4}), row_number_model()), (Ids{2, 3, 4}));
  EXPECT_EQ(generate(options(3, {4}), row_number_model()), (Ids{2, 3, 4}));
  EXPECT_EQ(generate(options(2, {4}), row_number_model()), (Ids{2, 3}));
}

TEST(Autoregressive, RunsThePromptOnceAndThenTheNewestTokenOnly) {
  AutoregressiveMachine machine(kPrompt, options(3), {0, 0});
  const auto steps = run_to_the_end(machine, row_number_model());
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].tokens, std::vector<Ids>{kPrompt});
  EXPECT_EQ(steps[0].logit_rows, std::vector<Ids>{{2}});
  EXPECT_EQ(steps[1].tokens, std::vector<Ids>{{2}});
  EXPECT_EQ(steps[1].logit_rows, std::vector<Ids>{{0}});
  EXPECT_EQ(steps[2].tokens, std::vector<Ids>{{3}});
  EXPECT_EQ(machine.revealed_at(), (Ids{-1, -1, -1, 0, 1, 2}));
}

const FakeModel kLikesFour = [](std::int32_t) {
  std::vector<float> logits(kVocabulary, -1.0f);
  logits[4] = 3, logits[8] = 2, logits[9] = 1;
  return logits;
};

// Token 4 is in the prompt: 3 / 2 falls below 2. Then 8 falls to 1, a tie with 9 that 4 (1.5) wins.
TEST(Autoregressive, RepetitionPenaltyCoversPromptAndOutput) {
  auto o = options(2);
  o.repetition_penalty = 2;
  EXPECT_EQ(generate(o, kLikesFour), (Ids{8, 4}));
}

TEST(Autoregressive, RepetitionPenaltyLowersNegativeLogitsToo) {
  auto o = options(1);
  o.repetition_penalty = 4;
  const FakeModel negative = [](std::int32_t) {
    std::vector<float> logits(kVocabulary, -9.0f);
    logits[4] = -1, logits[7] = -3;
    return logits;
  };
  EXPECT_EQ(generate(o, negative), (Ids{7}));  // -1 * 4 < -3
}

TEST(Autoregressive, FiltersLimitWhatIsDrawn) {
  auto o = options(200);
  o.temperature = 1;
  o.top_k = 2;
  for (const auto id : generate(o, kLikesFour)) EXPECT_TRUE(id == 4 || id == 8) << id;
  o.top_k.reset();
  o.top_p = 1e-6;
  EXPECT_EQ(generate(o, kLikesFour), Ids(200, 4));
}

// p(4) = 1 / (1 + e^-1) among the two kept: 0.731 of 2000 draws, standard deviation 19.8; five of them
// around.
TEST(Autoregressive, DrawsWithTheProbabilitiesOfTheTemperature) {
  auto o = options(2000);
  o.top_k = 2;
  for (const double temperature : {0.5, 1.0, 2.0}) {
    o.temperature = temperature;
    const auto ids = generate(o, kLikesFour);
    const double p = 1 / (1 + std::exp(-1 / temperature));
    EXPECT_NEAR(static_cast<double>(std::count(ids.begin(), ids.end(), 4)), 2000 * p,
                5 * std::sqrt(2000 * p * (1 - p)))
        << temperature;
  }
}

TEST(Autoregressive, GreedyIgnoresTheFilters) {
  auto o = options(3);
  o.top_k = 1;
  o.top_p = 0.1;
  EXPECT_EQ(generate(o, kLikesFour), Ids(3, 4));
}

}  // namespace
}  // namespace buoy
