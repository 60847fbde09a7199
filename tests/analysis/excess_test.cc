#include "buoy/analysis/absorption/excess.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/planted.h"
#include "buoy/analysis/core/uniform.h"

namespace buoy::testing {
namespace {

using analysis::ExcessScale;
using analysis::kCausalMask;
using analysis::kFullMask;
using analysis::Mask;
using analysis::prefix_mask;
using analysis::seen_between;
using analysis::uniform_received;

// What the queries [first, end) give each key when each gives `sink` to a position it sees, and the rest
// evenly to all that it sees.
std::vector<double> planted_share(const Mask& mask, std::int64_t tokens, std::int64_t first,
                                  std::int64_t position, double sink) {
  std::vector<double> share(static_cast<size_t>(tokens), 0.0);
  for (std::int64_t i = first; i < tokens; ++i) {
    const std::int64_t keys = !mask.causal ? tokens : i < mask.prefix ? mask.prefix : i + 1;
    const double given = position < keys ? sink : 0;
    for (std::int64_t j = 0; j < keys; ++j)
      share[static_cast<size_t>(j)] += (1 - given) / static_cast<double>(keys);
    if (position < keys) share[static_cast<size_t>(position)] += sink;
  }
  for (auto& value : share) value /= static_cast<double>(tokens - first);
  return share;
}

TEST(ExcessScale, APlantedSinkComesBackUnderEveryMaskAtEveryLengthAndPlace) {
  for (const std::int64_t tokens : {64, 256, 1024, 4096}) {
    for (const Mask& mask : {kFullMask, kCausalMask, prefix_mask(tokens / 2), prefix_mask(tokens - 8)}) {
      for (const std::int64_t first : {std::int64_t{0}, tokens / 2, tokens - 8}) {
        for (const std::int64_t position : {std::int64_t{0}, tokens / 8, tokens / 2}) {
          for (const double sink : {0.1, 0.3, 0.5}) {
            const auto share = planted_share(mask, tokens, first, position, sink);
            const ExcessScale scale(mask, tokens, first, tokens);
            EXPECT_NEAR(scale.of(position, share[static_cast<size_t>(position)]), sink, 1e-9)
                << mask.causal << mask.prefix << ' ' << tokens << ' ' << first << ' ' << position;
          }
        }
      }
    }
  }
}

TEST(ExcessScale, EvenAttentionHasNoneAndOneTokenHasNoChoice) {
  for (const Mask& mask : {kFullMask, kCausalMask, prefix_mask(40)}) {
    const auto share = uniform_received(mask, 100);
    const ExcessScale scale(mask, 100, 0, 100);
    for (const std::int64_t j : {0, 1, 50, 99})
      EXPECT_NEAR(scale.of(j, share[static_cast<size_t>(j)]), 0, 1e-12);
    EXPECT_TRUE(std::isnan(ExcessScale(mask, 1, 0, 1).of(0, 1.0)));
  }
}

TEST(Uniform, SharesOfQueriesThatSeeAKey) {
  // Queries 1, 2 and 3 of 5: all see keys 0 and 1, two see key 2, none key 4.
  EXPECT_EQ(seen_between(kCausalMask, 5, 1, 4), (std::vector<double>{1, 1, 2.0 / 3, 1.0 / 3, 0}));
  EXPECT_EQ(seen_between(prefix_mask(3), 4, 0, 4), (std::vector<double>{1, 1, 1, 1.0 / 4}));
  EXPECT_EQ(seen_between(kFullMask, 3, 1, 3), (std::vector<double>(3, 1.0)));
}

struct PlantedSink {
  std::string attention;  // as traces call it
  std::int64_t tokens;
  double sink;
};
class ExcessOfASink : public ::testing::TestWithParam<PlantedSink> {};

// Through a trace and the whole analysis: half of the row is the answer.
TEST_P(ExcessOfASink, IsInTheTablesForAllQueriesAndForThoseOfTheAnswer) {
  const auto [attention, tokens, sink] = GetParam();
  const Mask mask{attention != "bidirectional", attention == "prefix" ? tokens / 2 : 0};
  PlantedSpec spec;
  spec.samples = 2;
  spec.steps = 2;
  spec.layers = 1;
  spec.heads = 1;
  spec.tokens = tokens;
  spec.prompt = tokens / 2;
  spec.causal = mask.causal;
  spec.attention = attention;
  spec.groups = {"prompt", "answer, revealed"};
  const auto all = planted_share(mask, tokens, 0, 0, sink);
  const auto answer = planted_share(mask, tokens, tokens / 2, 0, sink);
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
  for (const auto* attention : {"bidirectional", "causal", "prefix"}) {
    for (const std::int64_t tokens : {64, 256, 1024, 4096}) {
      for (const double sink : {0.1, 0.3, 0.5}) all.push_back({attention, tokens, sink});
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Sinks, ExcessOfASink, ::testing::ValuesIn(planted_sinks()), [](const auto& info) {
  return info.param.attention + "_" + std::to_string(info.param.tokens) + "_" +
         std::to_string(static_cast<int>(10 * info.param.sink));
});

}  // namespace
}  // namespace buoy::testing
