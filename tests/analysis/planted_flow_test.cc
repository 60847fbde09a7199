#include <gtest/gtest.h>

#include <cmath>

#include "analysis/synthetic_trace.h"
#include "buoy/trace/schema.h"

namespace buoy::testing {
namespace {

// Attention on a gold token in each layer, beside 1 on every other token; noise multiplies each region's.
SyntheticTrace plant(const std::vector<double>& gold_weight, int samples, std::uint64_t seed) {
  const auto L = static_cast<std::int64_t>(gold_weight.size());
  SyntheticTrace trace({L, 1, 4});
  Draws draws(seed);
  for (int n = 0; n < samples; ++n) {
    const std::int64_t gold = draws.below(3);
    std::vector<std::int64_t> lengths = {1, 5, 0, 0, 0, 4};
    for (size_t d = 2; d < 5; ++d) lengths[d] = 4 + draws.below(20);
    SyntheticTrace::Row row;
    std::vector<std::uint8_t> regions;
    for (size_t r = 0; r < lengths.size(); ++r)
      regions.insert(regions.end(), static_cast<size_t>(lengths[r]), static_cast<std::uint8_t>(r));
    row.tokens.assign(regions.size(), 7);
    const auto tokens = static_cast<std::int64_t>(regions.size());
    row.prompt_length = tokens - 4;
    auto& sample = trace.add(row);
    sample.metadata[std::string(trace::kRegionNames)] =
        R"(["bos", "query", "document 1", "document 2", "document 3", "answer"])";
    sample.metadata[std::string(trace::kGroupNames)] =
        R"(["bos", "query", "document 1", "document 2", "document 3", "answer, revealed"])";
    sample.metadata[std::string(trace::kGoldRegions)] = R"(["document )" + std::to_string(gold + 1) + R"("])";
    std::vector<std::int32_t> sizes(lengths.begin(), lengths.end());
    std::vector<float> mass;
    for (const double weight : gold_weight) {
      for (size_t a = 0; a < 6; ++a) {
        std::vector<double> shares;
        double sum = 0;
        for (size_t b = 0; b < 6; ++b) {
          const bool planted = a == 5 && static_cast<std::int64_t>(b) == gold + 2;
          const double noise = std::max(0.1, 1 + 0.3 * draws.bell());
          shares.push_back(static_cast<double>(lengths[b]) * (planted ? weight : 1) * noise);
          sum += shares.back();
        }
        for (const double share : shares)
          mass.push_back(static_cast<float>(share / sum * static_cast<double>(lengths[a])));
      }
    }
    sample.arrays.push_back(trace::byte_array(trace::kRegionOfToken, {tokens}, regions));
    sample.arrays.push_back(trace::integer_array(trace::kGroupSizes, {1, 6}, sizes));
    sample.arrays.push_back(trace::float_array(trace::kMass, {1, L, 6, 1, 6}, mass));
  }
  return trace;
}

TEST(PlantedFlow, GoldMassOfKnownLiftComesBackAtEveryPosition) {
  const auto tables = plant({1, 3}, 150, 31).analyze("flow");
  const Table& gold = table_of(tables, "flow_gold_by_layer");
  for (const char* position : {"all", "1", "2", "3"}) {
    for (int layer = 0; layer < 2; ++layer) {
      const std::map<std::string, std::string> where = {{"gold_position", position},
                                                        {"layer", std::to_string(layer)}};
      const double planted = layer == 0 ? 1 : 3;
      // Noise of 30% on 50 samples or more, twice: about 6%.
      EXPECT_NEAR(number_at(gold, where, "gold_over_distractors") / planted, 1, 0.15) << position;
      EXPECT_LE(number_at(gold, where, "gold_over_distractors_lower"), planted * 1.03) << position;
      EXPECT_GE(number_at(gold, where, "gold_over_distractors_upper"), planted * 0.97) << position;
    }
  }
  // Rolled out over that one deepest layer, half of it stays with the answer; the ratio is the same.
  const Table& rollout = table_of(tables, "flow_gold_by_rollout");
  const std::map<std::string, std::string> last = {
      {"gold_position", "all"}, {"pooling", "mean"}, {"layers", "1"}};
  EXPECT_NEAR(number_at(rollout, last, "ratio"), 3, 0.3);
  EXPECT_NEAR(number_at(rollout, last, "uniform_ratio"), 1, 1e-6);
}

TEST(PlantedFlow, GoldLikeTheOthersGivesOne) {
  // 40 null layers of 30 samples: a 95% interval misses in 5%; more than 6 of 40 would come by chance in 0.3%
  // of seeds.
  const auto tables = plant(std::vector<double>(40, 1.0), 30, 32).analyze("flow");
  const Table& gold = table_of(tables, "flow_gold_by_layer");
  int alarms = 0;
  for (int layer = 0; layer < 40; ++layer) {
    const std::map<std::string, std::string> where = {{"gold_position", "all"},
                                                      {"layer", std::to_string(layer)}};
    alarms += number_at(gold, where, "gold_over_distractors_lower") > 1 ||
              number_at(gold, where, "gold_over_distractors_upper") < 1;
    EXPECT_NEAR(number_at(gold, where, "gold_over_distractors"), 1, 0.3);
  }
  EXPECT_LE(alarms, 6);
}

}  // namespace
}  // namespace buoy::testing
