// Dream's schedule and loop, driven by made-up logits.

#include "buoy/decode/dream.h"

#include <gtest/gtest.h>

#include <cmath>

#include "decode/fake_logits.h"

namespace buoy {
namespace {

using namespace testing;
using decode::DreamAlgorithm;
using decode::DreamMachine;
using decode::DreamOptions;
using Counts = std::vector<size_t>;

const Ids kPrompt = {3, 4, 5};

DreamOptions options(std::int32_t generated, std::int32_t steps,
                     DreamAlgorithm algorithm = DreamAlgorithm::kEntropy) {
  DreamOptions o;
  o.max_new_tokens = generated;
  o.steps = steps;
  o.algorithm = algorithm;
  o.mask_token = kMask;
  return o;
}

Counts counts(const DreamOptions& o) {
  DreamMachine machine(kPrompt, o);
  const auto steps = run_to_the_end(machine, random_model(1));
  EXPECT_EQ(generated_of(machine), [&] {
    auto ids = generated_of(machine);
    std::erase(ids, kMask);
    return ids;
  }()) << "a mask is left";
  return reveal_counts(steps);
}

// `first`, then `middle` for all but two steps, then `last`.
Counts pattern(size_t steps, size_t first, size_t middle, size_t last) {
  Counts expected(steps, middle);
  expected.front() = first;
  expected.back() = last;
  return expected;
}

TEST(DreamSchedule, RevealsAsManyAsPublished) {
  for (const auto algorithm :
       {DreamAlgorithm::kMaskgitPlus, DreamAlgorithm::kTopkMargin, DreamAlgorithm::kEntropy}) {
    for (const std::int32_t n : {16, 64, 128}) {
      EXPECT_EQ(counts(options(n, n, algorithm)), pattern(static_cast<size_t>(n), 0, 1, 2)) << n << " masks";
    }
    EXPECT_EQ(counts(options(256, 128, algorithm)), pattern(128, 1, 2, 3));
    EXPECT_EQ(counts(options(32, 8, algorithm)), pattern(8, 3, 4, 5));
    EXPECT_EQ(counts(options(5, 1, algorithm)), (Counts{5}));
  }
}

// The times fall from exactly 1 to exactly eps; each is a product and a sum, rounded, of numbers up to 1, and
// the step itself is rounded and multiplied by up to half the number of steps: less than 4 roundings of 1.
TEST(DreamSchedule, TimesFallEvenlyFromOneToEps) {
  for (const std::int32_t steps : {1, 2, 7, 8, 512}) {
    const auto times = decode::dream_schedule(steps, 1e-3);
    ASSERT_EQ(times.size(), static_cast<size_t>(steps) + 1);
    EXPECT_EQ(times.front(), 1.0f);
    EXPECT_EQ(times.back(), 1e-3f);
    for (std::int32_t i = 0; i <= steps; ++i) {
      EXPECT_NEAR(times[static_cast<size_t>(i)], 1 + (1e-3 - 1) * i / steps, 4 * 0x1p-24)
          << i << " of " << steps;
    }
  }
}

TEST(DreamShift, ThePositionIsPredictedByTheRowBeforeIt) {
  DreamMachine machine(kPrompt, options(4, 2));
  const auto steps = run_to_the_end(machine, row_number_model());
  EXPECT_EQ(steps[0].tokens, (std::vector<Ids>{{3, 4, 5, kMask, kMask, kMask, kMask}}));
  EXPECT_EQ(steps[0].logit_rows, (std::vector<Ids>{{2, 3, 4, 5}}));
  EXPECT_EQ(generated_of(machine), (Ids{2, 3, 4, 5}));  // row r proposes token r
}

TEST(DreamShift, PositionZeroUsesItsOwnRow) {
  DreamMachine machine(Ids{kMask, 4}, options(2, 1));
  const auto taken = step(machine, row_number_model());
  EXPECT_EQ(taken.logit_rows, (std::vector<Ids>{{0, 1, 2}}));
  EXPECT_EQ(machine.row(), (Ids{0, 4, 1, 2}));
}

TEST(DreamLoop, GivesTiesToTheLowerPosition) {
  for (const auto algorithm :
       {DreamAlgorithm::kMaskgitPlus, DreamAlgorithm::kTopkMargin, DreamAlgorithm::kEntropy}) {
    DreamMachine machine(kPrompt, options(8, 2, algorithm));
    const auto steps =
        run_to_the_end(machine, [](std::int32_t) { return std::vector<float>(kVocabulary, 0.0f); });
    EXPECT_EQ(revealed_positions(steps[0].record), (Ids{3, 4, 5}));  // int(8 * 0.4995)
    EXPECT_EQ(revealed_positions(steps[1].record), (Ids{6, 7, 8, 9, 10}));
  }
}

// Row 2: two tokens at 0.45 each. Row 3: one at 0.4 among many small ones. Row 4: one at 0.42 and one at
// 0.38. (The rest of each row is spread evenly.) By probability row 2 leads, by margin row 3, by entropy
// row 2. Position p is predicted by row p - 1.
TEST(DreamLoop, EachAlgorithmHasItsOwnIdeaOfSureness) {
  const FakeModel model = [](std::int32_t row) {
    const auto spread = [](std::vector<double> heads) {
      double left = 1;
      for (const double p : heads) left -= p;
      std::vector<float> logits(kVocabulary,
                                static_cast<float>(std::log(left / (kVocabulary - heads.size()))));
      for (size_t i = 0; i < heads.size(); ++i) logits[i] = static_cast<float>(std::log(heads[i]));
      return logits;
    };
    return row == 2 ? spread({0.45, 0.45}) : row == 3 ? spread({0.4}) : spread({0.42, 0.38});
  };
  const auto first_of = [&](DreamAlgorithm algorithm) {
    DreamMachine machine(kPrompt, options(3, 2, algorithm));  // int(3 * 0.4995) = 1 in the first step
    const auto record = step(machine, model).record;
    EXPECT_EQ(record.reveals.size(), 1u);
    return record.reveals.at(0);
  };
  const auto maskgit = first_of(DreamAlgorithm::kMaskgitPlus), margin = first_of(DreamAlgorithm::kTopkMargin),
             entropy = first_of(DreamAlgorithm::kEntropy);
  EXPECT_EQ(maskgit.position, 3);
  EXPECT_EQ(margin.position, 4);
  EXPECT_EQ(entropy.position, 3);
  // Logits are floats of size up to 6: a probability is off by at most 2^-24 * 6 of itself, twice.
  EXPECT_NEAR(maskgit.confidence, 0.45, 0.45 * 12 * 0x1p-24);
  EXPECT_NEAR(margin.confidence, 0.4 - 0.6 / 31, 0.4 * 12 * 0x1p-24);
  EXPECT_NEAR(entropy.confidence, 0.9 * std::log(0.45) + 0.1 * std::log(0.1 / 30), 1e-5);
}

TEST(DreamLoop, FiltersComeBeforeTheConfidence) {
  auto o = options(1, 1, DreamAlgorithm::kMaskgitPlus);
  o.top_k = 2;
  DreamMachine machine(kPrompt, o);
  const auto taken = step(machine, [](std::int32_t) {
    std::vector<float> logits(kVocabulary, 0.0f);
    logits[5] = logits[6] = 1;
    return logits;
  });
  EXPECT_EQ(taken.record.reveals.at(0).token, 5);
  EXPECT_EQ(taken.record.reveals.at(0).confidence, 0.5);  // of the two that were kept
}

TEST(DreamLoop, OriginRevealsEachMaskByItsOwnDrawAndTheLastStepRevealsAll) {
  DreamMachine machine(kPrompt, options(400, 4, DreamAlgorithm::kOrigin));
  const auto steps = run_to_the_end(machine, random_model(3));
  // The first share is 0.24975 of 400: 99.9 expected, standard deviation 8.7; five of them around.
  EXPECT_NEAR(static_cast<double>(steps[0].record.reveals.size()), 99.9, 5 * 8.7);
  const auto ids = machine.generated();
  EXPECT_EQ(std::count(ids.begin(), ids.end(), kMask), 0);
  EXPECT_NE(revealed_positions(steps[0].record).back(),
            2 + static_cast<std::int32_t>(steps[0].record.reveals.size()))
      << "draws, not the first positions";
}

TEST(DreamLoop, APositionThatProposesTheMaskStaysMasked) {
  DreamMachine machine(kPrompt, options(3, 1));
  run_to_the_end(machine, [](std::int32_t row) {
    std::vector<float> logits(kVocabulary, 0.0f);
    logits[row == 3 ? kMask : 8] = 5;
    return logits;
  });
  EXPECT_EQ(generated_of(machine), (Ids{8, kMask, 8}));
  EXPECT_EQ(machine.revealed_at(), (Ids{-1, -1, -1, 0, -1, 0}));
}

}  // namespace
}  // namespace buoy
