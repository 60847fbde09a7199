// The routing analysis finds what was planted in routers, and nothing in routers that choose at random.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "analysis/synthetic_trace.h"
#include "buoy/trace/schema.h"
#include "support/written_table.h"

namespace buoy::testing {
namespace {

constexpr std::int64_t kLayers = 8, kSteps = 8, kTokens = 48, kPrompt = 32, kExperts = 16, kChosen = 4,
                       kSamples = 24;
constexpr std::int32_t kMask = 999;

struct RoutedToken {
  std::int64_t sample, layer, step, token;
  std::int64_t region;  // 0: query, 1 and 2: documents, 3: answer
  bool masked;
};

using Experts = std::vector<std::int32_t>;
// The experts of a token, by whatever rule.
using Rule = std::function<Experts(const RoutedToken&)>;

Experts random_experts(std::uint64_t seed, std::int64_t below = kExperts) {
  Draws draws(seed);
  Experts all(static_cast<size_t>(below));
  std::iota(all.begin(), all.end(), 0);
  for (size_t i = 0; i < static_cast<size_t>(kChosen); ++i)
    std::swap(all[i], all[i + static_cast<size_t>(draws.below(static_cast<std::int64_t>(all.size() - i)))]);
  all.resize(static_cast<size_t>(kChosen));
  return all;
}

std::uint64_t seed_of(const RoutedToken& at, bool by_step) {
  return static_cast<std::uint64_t>(((at.sample * 100 + at.layer) * 100 + (by_step ? at.step : 99)) * 100 +
                                    at.token);
}

std::int64_t region_of(std::int64_t token) {
  return token >= kPrompt ? 3 : token < 8 ? 0 : token < 20 ? 1 : 2;
}

std::vector<Table> analyze(const Rule& rule) {
  SyntheticTrace made({kLayers, 1, 4});
  for (std::int64_t n = 0; n < kSamples; ++n) {
    Experts row(static_cast<size_t>(kTokens)), revealed(row.size(), -1), rows, experts, load;
    std::vector<std::uint8_t> regions;
    for (std::int64_t t = 0; t < kTokens; ++t) {
      row[static_cast<size_t>(t)] = static_cast<std::int32_t>(t);
      if (t >= kPrompt)  // two at each step, from the left
        revealed[static_cast<size_t>(t)] = static_cast<std::int32_t>((t - kPrompt) / 2);
      regions.push_back(static_cast<std::uint8_t>(region_of(t)));
    }
    auto& sample = made.add({row, kPrompt, kSteps});
    for (std::int64_t s = 0; s < kSteps; ++s) {
      for (std::int64_t l = 0; l < kLayers; ++l) {
        load.resize(load.size() + static_cast<size_t>(kExperts), 0);
        for (std::int64_t t = 0; t < kTokens; ++t) {
          const bool masked = revealed[static_cast<size_t>(t)] >= s;
          if (l == 0) rows.push_back(masked ? kMask : row[static_cast<size_t>(t)]);
          for (const auto expert : rule({n, l, s, t, region_of(t), masked})) {
            experts.push_back(expert);
            ++load[load.size() - static_cast<size_t>(kExperts) + static_cast<size_t>(expert)];
          }
        }
      }
    }
    const std::vector<float> weights(experts.size(), 0.25f), entropy(experts.size() / kChosen, 1.0f);
    const auto add = [&](trace::Array array) { sample.arrays.push_back(std::move(array)); };
    add(trace::integer_array(trace::kTokensByStep, {kSteps, kTokens}, rows));
    add(trace::integer_array(trace::kRevealedAt, {kTokens}, revealed));
    add(trace::byte_array(trace::kRegionOfToken, {kTokens}, regions));
    add(trace::integer_array(trace::kRoutedExperts, {kSteps, kLayers, kTokens, kChosen}, experts));
    add(trace::float_array(trace::kRoutedWeights, {kSteps, kLayers, kTokens, kChosen}, weights));
    add(trace::float_array(trace::kRouterEntropy, {kSteps, kLayers, kTokens}, entropy));
    add(trace::integer_array(trace::kExpertLoad, {kSteps, kLayers, kExperts}, load));
    sample.metadata[std::string(trace::kMaskToken)] = std::to_string(kMask);
    sample.metadata[std::string(trace::kRegionNames)] = R"(["query", "document 1", "document 2", "answer"])";
  }
  return made.analyze("routing");
}

// Layers whose interval of the excess holds 0, lies above or below it.
struct Layers {
  int found_above = 0, found_below = 0, nothing = 0;
};
Layers layers_of(const std::vector<Table>& tables, const std::string& quantity) {
  const Table& table = table_of(tables, "routing_by_layer");
  const Table rows = rows_where(table, {{"quantity", quantity}});
  Layers out;
  for (const auto& row : rows.rows) {
    const double lower = number_of(row[column_named(table, "excess_lower")]),
                 upper = number_of(row[column_named(table, "excess_upper")]);
    ++(lower > 0 ? out.found_above : upper < 0 ? out.found_below : out.nothing);
  }
  return out;
}
double mean_of(const std::vector<Table>& tables, const std::string& quantity, const std::string& column) {
  const Table& table = table_of(tables, "routing_by_layer");
  const Table rows = rows_where(table, {{"quantity", quantity}});
  double sum = 0;
  for (const auto& row : rows.rows) sum += number_of(row[column_named(table, column)]);
  return sum / static_cast<double>(rows.rows.size());
}

const std::vector<std::string> kQuantities = {"imbalance",      "change",   "change_masked",
                                              "change_settled", "by_state", "by_region"};

// 95% intervals: of eight layers, three that miss 0 have a chance of 0.6%; of the mean over layers, 24
// samples of 8 layers, little is left.
TEST(PlantedRouting, RandomRoutersShowNothing) {
  const auto tables = analyze([](const RoutedToken& at) { return random_experts(seed_of(at, true)); });
  for (const std::string& quantity : kQuantities) {
    const Layers layers = layers_of(tables, quantity);
    EXPECT_LE(layers.found_above + layers.found_below, 2) << quantity;
    EXPECT_NEAR(mean_of(tables, quantity, "excess"), 0, quantity == "imbalance" ? 0.005 : 0.004) << quantity;
  }
  EXPECT_NEAR(mean_of(tables, "change", "value"), 1 - 4.0 / 16, 0.003);
  EXPECT_NEAR(mean_of(tables, "imbalance", "null"), 1 + 12.0 / (4 * 48), 1e-9);
}

// A token that keeps its random experts all along: it does not change, and says no more of its region than
// chance, however many steps say it.
TEST(PlantedRouting, ExpertsThatStayAreNotSpecialised) {
  const auto tables = analyze([](const RoutedToken& at) { return random_experts(seed_of(at, false)); });
  EXPECT_EQ(mean_of(tables, "change", "value"), 0);
  EXPECT_EQ(layers_of(tables, "change").found_below, kLayers);
  for (const char* quantity : {"by_region", "by_state"}) {
    const Layers layers = layers_of(tables, quantity);
    EXPECT_LE(layers.found_above + layers.found_below, 2) << quantity;
    EXPECT_NEAR(mean_of(tables, quantity, "excess"), 0, 0.008) << quantity;
  }
}

// Layers 0 to 3 route a token to the half of its region with a chance of 1 in 2; the others at random.
TEST(PlantedRouting, RegionsComeBack) {
  const auto tables = analyze([](const RoutedToken& at) {
    Draws draws(seed_of(at, true) + 77);
    Experts experts = random_experts(seed_of(at, true), at.layer < 4 && draws.flat() < 0.5 ? 8 : kExperts);
    if (at.layer < 4 && at.region >= 2) {
      for (auto& expert : experts) expert = static_cast<std::int32_t>(kExperts) - 1 - expert;
    }
    return experts;
  });
  const Table& table = table_of(tables, "routing_by_layer");
  for (int layer = 0; layer < kLayers; ++layer) {
    const auto number = [&](const char* column) {
      return number_at(table, {{"layer", std::to_string(layer)}, {"quantity", "by_region"}}, column);
    };
    if (layer < 4) {
      EXPECT_GT(number("excess_lower"), 0.02) << layer;
    } else {
      EXPECT_NEAR(number("excess"), 0, 0.01) << layer;
    }
  }
}

// Masked tokens all take the first experts, and the load leans on them.
TEST(PlantedRouting, MasksAndImbalanceComeBack) {
  const auto tables = analyze([](const RoutedToken& at) {
    return at.masked ? Experts{0, 1, 2, 3} : random_experts(seed_of(at, true));
  });
  EXPECT_EQ(layers_of(tables, "by_state").found_above, kLayers);
  EXPECT_EQ(layers_of(tables, "imbalance").found_above, kLayers);
  EXPECT_EQ(mean_of(tables, "change_masked", "value"), 0);
  EXPECT_EQ(mean_of(tables, "change_masked", "null"), 0) << "they are all alike: nothing to permute";
  EXPECT_NEAR(mean_of(tables, "change_settled", "excess"), 0, 0.004);
  const Table& load = table_of(tables, "routing_load");
  EXPECT_GT(number_at(load, {{"layer", "0"}, {"expert", "0"}}, "share"), 0.08);
  EXPECT_LT(number_at(load, {{"layer", "0"}, {"expert", "9"}}, "share"), 0.06);
}

}  // namespace
}  // namespace buoy::testing
