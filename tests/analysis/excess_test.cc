#include "buoy/analysis/absorption/excess.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/planted.h"
#include "buoy/analysis/core/uniform.h"

namespace buoy::testing {
namespace {

using analysis::ExcessScale;
using analysis::seen_from;
using analysis::uniform_received_from;

// What the queries [first, end) give each key when each gives `sink` to a position it sees, and the rest
// evenly to all that it sees.
std::vector<double> planted_share(bool causal, std::int64_t tokens, std::int64_t first, std::int64_t position,
                                  double sink) {
  std::vector<double> share(static_cast<size_t>(tokens), 0.0);
  for (std::int64_t i = first; i < tokens; ++i) {
    const std::int64_t keys = causal ? i + 1 : tokens;
    const double given = position < keys ? sink : 0;
    for (std::int64_t j = 0; j < keys; ++j)
      share[static_cast<size_t>(j)] += (1 - given) / static_cast<double>(keys);
    if (position < keys) share[static_cast<size_t>(position)] += sink;
  }
  for (auto& value : share) value /= static_cast<double>(tokens - first);
  return share;
}

TEST(ExcessScale, APlantedSinkComesBackUnderBothMasksAtEveryLengthAndPlace) {
  for (const bool causal : {false, true}) {
    for (const std::int64_t tokens : {64, 256, 1024, 4096}) {
      for (const std::int64_t first : {std::int64_t{0}, tokens / 2, tokens - 8}) {
        for (const std::int64_t position : {std::int64_t{0}, tokens / 8, tokens / 2}) {
          for (const double sink : {0.1, 0.3, 0.5}) {
            const auto share = planted_share(causal, tokens, first, position, sink);
            EXPECT_NEAR(ExcessScale(causal, tokens, first).of(position, share[static_cast<size_t>(position)]),
                        sink, 1e-9)
                << causal << ' ' << tokens << ' ' << first << ' ' << position;
          }
        }
      }
    }
  }
}

TEST(ExcessScale, EvenAttentionHasNoneAndOneTokenHasNoChoice) {
  for (const bool causal : {false, true}) {
    const auto share = uniform_received_from(causal, 100, 0);
    for (const std::int64_t j : {0, 1, 50, 99})
      EXPECT_NEAR(ExcessScale(causal, 100, 0).of(j, share[static_cast<size_t>(j)]), 0, 1e-12);
    EXPECT_TRUE(std::isnan(ExcessScale(causal, 1, 0).of(0, 1.0)));
  }
}

TEST(Uniform, SharesOfQueriesThatSeeAKey) {
  // Queries 1, 2 and 3 of 4: all see keys 0 and 1, two see key 2.
  EXPECT_EQ(seen_from(true, 4, 1), (std::vector<double>{1, 1, 2.0 / 3, 1.0 / 3}));
  EXPECT_EQ(seen_from(false, 3, 1), (std::vector<double>(3, 1.0)));
}

struct PlantedSink {
  bool causal;
  std::int64_t tokens;
  double sink;
};
class ExcessOfASink : public ::testing::TestWithParam<PlantedSink> {};

// Through a trace and the whole analysis: half of the row is the answer.
TEST_P(ExcessOfASink, IsInTheTablesForAllQueriesAndForThoseOfTheAnswer) {
  const auto [causal, tokens, sink] = GetParam();
  PlantedSpec spec;
  spec.samples = 2;
  spec.steps = 2;
  spec.layers = 1;
  spec.heads = 1;
  spec.tokens = tokens;
  spec.prompt = tokens / 2;
  spec.causal = causal;
  spec.groups = {"prompt", "answer, revealed"};
  const auto all = planted_share(causal, tokens, 0, 0, sink);
  const auto answer = planted_share(causal, tokens, tokens / 2, 0, sink);
  spec.weights = [&](const PlantedMap& map, std::vector<double>& weights) {
    for (size_t j = 0; j < weights.size(); ++j)
      weights[j] = map.group == 1 ? answer[j] : 2 * all[j] - answer[j];
  };
  const auto found = analyse(spec, {"absorption"});
  for (const auto* steps : {"final", "all"}) {
    for (const auto* view : {"head_mean", "per_head"}) {
      for (const auto* queries : {"all", "answer"}) {
        for (const auto* selector : {"position_0", "top_1"}) {
          const Where row = {{"steps", steps}, {"view", view}, {"queries", queries}, {"selector", selector}};
          Where depth = row, layer = row;
          depth.emplace_back("depth", "all layers");
          layer.emplace_back("layer", "0");
          EXPECT_NEAR(found.value("absorption_excess", depth, "excess"), sink, 1e-4) << queries << selector;
          EXPECT_NEAR(found.value("absorption_excess_by_layer", layer, "excess"), sink, 1e-4);
        }
      }
    }
  }
}

std::vector<PlantedSink> planted_sinks() {
  std::vector<PlantedSink> all;
  for (const bool causal : {false, true}) {
    for (const std::int64_t tokens : {64, 512, 4096}) {
      for (const double sink : {0.1, 0.3, 0.5}) all.push_back({causal, tokens, sink});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Sinks, ExcessOfASink, ::testing::ValuesIn(planted_sinks()), [](const auto& info) {
  return std::string(info.param.causal ? "causal" : "full") + "_" + std::to_string(info.param.tokens) + "_" +
         std::to_string(static_cast<int>(10 * info.param.sink));
});

}  // namespace
}  // namespace buoy::testing
