#include "buoy/analysis/tasks/task_share.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/synthetic_trace.h"
#include "buoy/stats/holm.h"

namespace buoy::analysis {
namespace {

using testing::Draws;

constexpr std::int64_t kPermutations = 199;  // p values are multiples of 1/200

TaskLabels labels_of(std::int32_t tasks, int samples_each) {
  TaskLabels labels;
  labels.tasks = tasks;
  for (std::int32_t t = 0; t < tasks; ++t) {
    for (int n = 0; n < samples_each; ++n) {
      labels.task.push_back(t);
      labels.ids.push_back(std::to_string(t) + "/" + std::to_string(n));
    }
  }
  return labels;
}

// Normal numbers around a place of each task.
TaskQuantity numbers(const TaskLabels& labels, const std::vector<double>& places, Draws& draws) {
  TaskQuantity out;
  for (const auto task : labels.task) out.values.push_back(places[static_cast<size_t>(task)] + draws.bell());
  return out;
}

// Four classes, the first with its own chance in each task and the others evenly.
TaskQuantity classes(const TaskLabels& labels, const std::vector<double>& first, Draws& draws) {
  TaskQuantity out{{}, true};
  for (const auto task : labels.task) {
    const bool is_first = draws.flat() < first[static_cast<size_t>(task)];
    out.values.push_back(is_first ? 0.0 : static_cast<double>(1 + draws.below(3)));
  }
  return out;
}

stats::BootstrapOptions options_of(std::uint64_t seed) {
  return {.replicates = 200, .confidence = 0.95, .seed = seed};
}

TEST(TaskShare, WithoutAnEffectFivePercentOfTestsFindOneAndTheMeanIsZero) {
  const auto labels = labels_of(3, 16);
  const std::vector<double> same(3, 0.0), even(3, 0.25);
  constexpr int kDraws = 400;
  int places = 0, types = 0;
  double mean = 0;
  for (std::uint64_t seed = 1; seed <= kDraws; ++seed) {
    Draws draws(seed);
    const std::vector<TaskQuantity> both = {numbers(labels, same, draws), classes(labels, even, draws)};
    const auto tests = test_tasks(both, labels, options_of(seed), kPermutations);
    places += tests[0].p <= 0.05;
    types += tests[1].p <= 0.05;
    mean += tests[0].share.corrected / kDraws;
  }
  // 20 of 400 are expected, with a deviation of 4.4.
  EXPECT_NEAR(places, 20, 14);
  EXPECT_LE(types, 34);
  EXPECT_GE(types, 4) << "ties make it smaller, but not empty";
  EXPECT_NEAR(mean, 0, 0.01) << "epsilon squared has a deviation of 0.043: 0.002 of the mean";
}

TEST(TaskShare, HolmKeepsAllLayersTogetherAtFivePercent) {
  const auto labels = labels_of(3, 12);
  const std::vector<double> same(3, 0.0);
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Draws draws(1000 + seed);
    std::vector<TaskQuantity> layers;
    for (int l = 0; l < 8; ++l) layers.push_back(numbers(labels, same, draws));
    std::vector<double> p;
    for (const auto& test : test_tasks(layers, labels, options_of(seed), kPermutations)) p.push_back(test.p);
    const auto together = stats::holm(p);
    found += std::any_of(together.begin(), together.end(), [](double value) { return value <= 0.05; });
  }
  EXPECT_LE(found, 20) << "at most 10 of 200 are expected, with a deviation of 3.1";
}

TEST(TaskShare, APlantedShareComesBackWithItsInterval) {
  const auto labels = labels_of(3, 16);
  // Places -d, 0, d with deviation 1: between 2 d^2 / 3, so that the share is 0.3.
  const double d = std::sqrt(1.5 * 0.3 / 0.7);
  int covered = 0, found = 0;
  double mean = 0, types = 0;
  constexpr int kDraws = 200;
  for (std::uint64_t seed = 1; seed <= kDraws; ++seed) {
    Draws draws(5000 + seed);
    const std::vector<TaskQuantity> both = {numbers(labels, {-d, 0, d}, draws),
                                            classes(labels, {0.7, 0.25, 0.25}, draws)};
    const auto tests = test_tasks(both, labels, options_of(seed), kPermutations);
    covered += tests[0].lower <= 0.3 && 0.3 <= tests[0].upper;
    found += tests[0].p <= 0.05;
    mean += tests[0].share.corrected / kDraws;
    types += tests[1].share.corrected / kDraws;
  }
  EXPECT_NEAR(mean, 0.3, 0.03);
  // chi squared over n of the planted chances is 0.1875; V = sqrt(0.1875 / 2).
  EXPECT_NEAR(types, 0.306, 0.05);
  EXPECT_GE(covered, 176) << "of 200; percentile intervals over 48 samples run a little short of 95%";
  EXPECT_GE(found, 190);
}

TEST(TaskShare, AnAbsenceIsSeenWithAHundredSamplesOfEachTask) {
  const auto labels = labels_of(3, 100);
  int absent = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Draws draws(9000 + seed);
    const auto tests =
        test_tasks(std::vector{numbers(labels, {0, 0, 0}, draws)}, labels, options_of(seed), 19);
    absent += tests[0].upper < 0.06;
  }
  EXPECT_GE(absent, 35) << "of 40; 97% are expected";
}

TEST(TaskShare, WhatIsTheSameInAllSamplesHasNoShare) {
  const auto labels = labels_of(3, 4);
  const TaskQuantity place{std::vector<double>(12, 0.1), false}, type{std::vector<double>(12, 2.0), true},
      unknown{{}, true};
  const auto tests = test_tasks(std::vector<TaskQuantity>{place, type, unknown}, labels, {}, kPermutations);
  for (const auto& test : tests) {
    for (const double value : {test.share.raw, test.share.corrected, test.lower, test.upper, test.p})
      EXPECT_TRUE(std::isnan(value));
  }
  EXPECT_EQ(place.distinct(), 1);
  EXPECT_EQ(unknown.distinct(), 0);
}

TEST(TaskShare, TestsAreTheSameWhateverElseIsTested) {
  const auto labels = labels_of(3, 10);
  Draws draws(7);
  const auto one = numbers(labels, {0, 1, 2}, draws), other = numbers(labels, {0, 0, 0}, draws);
  const auto alone = test_tasks(std::vector{one}, labels, {}, kPermutations);
  const auto beside = test_tasks(std::vector{other, one}, labels, {}, kPermutations);
  EXPECT_EQ(alone[0].p, beside[1].p);
  EXPECT_EQ(alone[0].upper, beside[1].upper);
}

}  // namespace
}  // namespace buoy::analysis
