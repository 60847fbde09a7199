// Weights summed over sets of keys: exactly what adding the keys one by one in double gives.

#include "buoy/ops/attention/set_masses.h"

#include <gtest/gtest.h>

#include <random>

namespace buoy::ops {
namespace {

TEST(KeySets, KeepRunsOfNeighbours) {
  KeySets sets;
  sets.add(10, [](int key) { return key < 3 || key == 9; });
  sets.add(10, [](int) { return false; });
  sets.add(10, [](int key) { return key >= 9; });  // the neighbour of another set's run is a run of its own
  ASSERT_EQ(sets.count(), 3);
  ASSERT_EQ(sets.of(0).size(), 2u);
  EXPECT_EQ(sets.of(0)[0].begin, 0);
  EXPECT_EQ(sets.of(0)[0].end, 3);
  EXPECT_EQ(sets.of(0)[1].begin, 9);
  EXPECT_TRUE(sets.of(1).empty());
  ASSERT_EQ(sets.of(2).size(), 1u);
  EXPECT_EQ(sets.of(2)[0].begin, 9);
  EXPECT_EQ(sets.of(2)[0].end, 10);
}

TEST(SetMasses, AddKeysInTheirOrder) {
  constexpr std::int64_t kRows = 37, kKeys = 523;
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  std::vector<float> weights(kRows * kKeys);
  for (float& weight : weights) weight = uniform(random);
  std::vector<int> set_of(kKeys);
  for (int& set : set_of) set = static_cast<int>(random() % 5);  // 4: in none of the first four
  KeySets sets;
  for (int set = 0; set < 4; ++set)
    sets.add(kKeys, [&](int key) { return set_of[static_cast<size_t>(key)] == set; });
  sets.add(kKeys, [](int key) { return key % 3 == 0; });  // overlaps with the others
  for (const int count : {1, 4}) {
    ThreadPool threads(count);
    std::vector<float> masses(kRows * 5, -1.0f);
    set_masses({threads}, weights, kKeys, sets, masses);
    for (size_t row = 0; row < kRows; ++row) {
      for (size_t set = 0; set < 5; ++set) {
        double sum = 0;
        for (size_t key = 0; key < kKeys; ++key) {
          const bool member = set < 4 ? set_of[key] == static_cast<int>(set) : key % 3 == 0;
          if (member) sum += weights[row * kKeys + key];
        }
        EXPECT_EQ(masses[row * 5 + set], static_cast<float>(sum)) << row << " " << set;
      }
    }
  }
}

}  // namespace
}  // namespace buoy::ops
