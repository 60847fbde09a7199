// LLaDA's loop, driven by made-up logits.

#include "buoy/decode/llada.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "decode/fake_logits.h"

namespace buoy {
namespace {

using namespace testing;
using decode::LladaMachine;
using decode::LladaOptions;

const Ids kPrompt = {3, 4, 5};

LladaOptions options(std::int32_t generated, std::int32_t steps, std::int32_t block) {
  LladaOptions o;
  o.max_new_tokens = generated;
  o.steps = steps;
  o.block_length = block;
  o.mask_token = kMask;
  return o;
}

std::vector<size_t> counts(const LladaOptions& o) {
  LladaMachine machine(kPrompt, o);
  return reveal_counts(run_to_the_end(machine, random_model(1)));
}

using Counts = std::vector<size_t>;

TEST(LladaQuota, SharesABlockEvenlyAndGivesTheRestToTheFirstSteps) {
  EXPECT_EQ(counts(options(8, 3, 8)), (Counts{3, 3, 2}));
  EXPECT_EQ(counts(options(8, 8, 8)), (Counts{1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(counts(options(8, 5, 8)), (Counts{2, 2, 2, 1, 1}));
  EXPECT_EQ(counts(options(8, 1, 8)), (Counts{8}));
  EXPECT_EQ(counts(options(10, 4, 5)), (Counts{3, 2, 3, 2}));
  EXPECT_EQ(counts(options(12, 6, 4)), (Counts{2, 2, 2, 2, 2, 2}));
}

TEST(LladaQuota, WithMoreStepsThanMasksTheLastStepsRevealNothing) {
  EXPECT_EQ(counts(options(3, 5, 3)), (Counts{1, 1, 1, 0, 0}));
}

TEST(LladaLoop, RevealsEveryPositionOnceBlockByBlock) {
  for (const auto order : {decode::LladaOrder::kLowConfidence, decode::LladaOrder::kRandom}) {
    for (const double temperature : {0.0, 1.0}) {
      auto o = options(24, 12, 6);
      o.order = order;
      o.temperature = temperature;
      LladaMachine machine(kPrompt, o);
      const auto steps = run_to_the_end(machine, random_model(2));
      ASSERT_EQ(steps.size(), 12u);
      std::set<std::int32_t> seen;
      for (size_t s = 0; s < steps.size(); ++s) {
        const std::int32_t block_begin = 3 + 6 * static_cast<std::int32_t>(s / 3);
        EXPECT_EQ(steps[s].record.step, static_cast<std::int32_t>(s));
        for (const auto& reveal : steps[s].record.reveals) {
          EXPECT_GE(reveal.position, block_begin);
          EXPECT_LT(reveal.position, block_begin + 6);
          EXPECT_TRUE(seen.insert(reveal.position).second)
              << "position " << reveal.position << " revealed again";
          EXPECT_EQ(machine.row()[static_cast<size_t>(reveal.position)], reveal.token);
          EXPECT_EQ(machine.revealed_at()[static_cast<size_t>(reveal.position)],
                    static_cast<std::int32_t>(s));
        }
      }
      EXPECT_EQ(seen.size(), 24u);
      EXPECT_EQ(Ids(machine.row().begin(), machine.row().begin() + 3), kPrompt);
    }
  }
}

TEST(LladaLoop, SeesTheWholeRowAndAsksForTheMasksUpToTheEndOfTheBlock) {
  LladaMachine machine(kPrompt, options(8, 4, 4));
  const auto first = step(machine, row_number_model());
  EXPECT_EQ(first.tokens,
            (std::vector<Ids>{{3, 4, 5, kMask, kMask, kMask, kMask, kMask, kMask, kMask, kMask}}));
  EXPECT_EQ(first.logit_rows, (std::vector<Ids>{{3, 4, 5, 6}}));
  EXPECT_EQ(revealed_positions(first.record), (Ids{5, 6}));  // the surest
  const auto second = step(machine, row_number_model());
  EXPECT_EQ(second.logit_rows, (std::vector<Ids>{{3, 4}}));
  const auto third = step(machine, row_number_model());
  EXPECT_EQ(third.tokens, (std::vector<Ids>{{3, 4, 5, 3, 4, 5, 6, kMask, kMask, kMask, kMask}}));
  EXPECT_EQ(third.logit_rows, (std::vector<Ids>{{7, 8, 9, 10}}));
}

TEST(LladaLoop, GivesTiesToTheLowerPosition) {
  LladaMachine machine(kPrompt, options(6, 3, 6));
  const auto steps =
      run_to_the_end(machine, [](std::int32_t) { return std::vector<float>(kVocabulary, 0.0f); });
  EXPECT_EQ(revealed_positions(steps[0].record), (Ids{3, 4}));
  EXPECT_EQ(revealed_positions(steps[1].record), (Ids{5, 6}));
  EXPECT_EQ(revealed_positions(steps[2].record), (Ids{7, 8}));
  EXPECT_EQ(generated_of(machine), Ids(6, 0));
}

TEST(LladaLoop, ReportsTheProbabilityOfTheTokenAsConfidence) {
  LladaMachine machine(kPrompt, options(1, 1, 1));
  const auto taken = step(machine, [](std::int32_t) {
    std::vector<float> logits(kVocabulary, 0.0f);
    logits[7] = 3;
    return logits;
  });
  ASSERT_EQ(taken.record.reveals.size(), 1u);
  EXPECT_EQ(taken.record.reveals[0].token, 7);
  EXPECT_NEAR(taken.record.reveals[0].confidence, std::exp(3) / (std::exp(3) + 31), 1e-15);
}

// A proposed mask uses up its share of the quota, and the position is asked for again, in later blocks too.
TEST(LladaLoop, APositionThatProposesTheMaskStaysMaskedAndACandidate) {
  const FakeModel stubborn = [](std::int32_t row) {
    std::vector<float> logits(kVocabulary, 0.0f);
    logits[row == 4 ? kMask : 8] = row == 4 ? 9.0f : 3.0f;
    return logits;
  };
  LladaMachine machine(kPrompt, options(4, 4, 2));
  const auto steps = run_to_the_end(machine, stubborn);
  EXPECT_EQ(reveal_counts(steps), (Counts{0, 0, 0, 0}));
  EXPECT_EQ(steps[2].logit_rows, (std::vector<Ids>{{3, 4, 5, 6}}));
  EXPECT_EQ(generated_of(machine), Ids(4, kMask));
  EXPECT_EQ(machine.revealed_at(), Ids(7, -1));
}

TEST(LladaGuidance, RunsASecondForwardWithThePromptMaskedAndPushesAwayFromIt) {
  auto o = options(2, 2, 2);
  o.cfg_scale = 1;
  LladaMachine machine(kPrompt, o);
  const auto forwards = machine.next_forwards();
  ASSERT_EQ(forwards.size(), 2u);
  EXPECT_EQ(Ids(forwards[0].tokens.begin(), forwards[0].tokens.end()), (Ids{3, 4, 5, kMask, kMask}));
  EXPECT_EQ(Ids(forwards[1].tokens.begin(), forwards[1].tokens.end()), Ids(5, kMask));
  // u + 2 (l - u): token 9 leads by 0.5 with the prompt, but it led by 2 without: token 6 wins.
  std::vector<float> with(2 * kVocabulary, -20.0f), without(2 * kVocabulary, -20.0f);
  for (const size_t row : {0, kVocabulary}) {
    with[row + 9] = 1.5f, with[row + 6] = 1;
    without[row + 9] = 2, without[row + 6] = 0;
  }
  const decode::LogitRows rows[] = {{with.data(), kVocabulary}, {without.data(), kVocabulary}};
  const auto record = machine.advance(rows);
  ASSERT_EQ(record.reveals.size(), 1u);
  EXPECT_EQ(record.reveals[0].token, 6);
}

const FakeModel kEager = [](std::int32_t row) {  // all but row 4 want to end
  std::vector<float> logits(kVocabulary, 0.0f);
  logits[10] = row == 4 ? 1.0f : 6.0f;
  logits[12] = 2;
  return logits;
};

TEST(LladaEndTokens, AreForbiddenByLogitsEosInf) {
  auto o = options(4, 4, 4);
  o.logits_eos_inf = true;
  o.eos_token = 10;
  LladaMachine machine(kPrompt, o);
  run_to_the_end(machine, kEager);
  EXPECT_EQ(generated_of(machine), Ids(4, 12));
}

TEST(LladaEndTokens, AreRevealedLastByConfidenceEosEotInf) {
  auto o = options(4, 4, 4);
  o.confidence_eos_eot_inf = true;
  o.eos_token = 10;
  o.eot_token = 11;
  LladaMachine machine(kPrompt, o);
  const auto steps = run_to_the_end(machine, kEager);
  EXPECT_EQ(revealed_positions(steps[0].record), Ids{4});
  EXPECT_EQ(generated_of(machine), (Ids{10, 12, 10, 10}));  // they are still written
}

}  // namespace
}  // namespace buoy
