// Sinks and attention from step to step: what was planted is found, and nothing in rows without structure.

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/planted.h"

namespace buoy::testing {
namespace {

constexpr std::int64_t kTokens = 64;

std::string layer_text(std::int64_t n) {
  return std::to_string(n);
}

// Rows of exponential weights, each normalised, summed over the queries.
void rows_without_structure(const PlantedMap& map, std::vector<double>& weights) {
  const size_t tokens = weights.size();
  std::vector<double> row(tokens);
  std::fill(weights.begin(), weights.end(), 0.0);
  for (size_t i = 0; i < tokens / 2; ++i) {
    double total = 0;
    for (size_t j = 0; j < tokens; ++j)
      total += row[j] = -std::log(1 - draw(map, static_cast<std::uint32_t>(i * tokens + j)));
    for (size_t j = 0; j < tokens; ++j) weights[j] += row[j] / total;
  }
}

// A share for one key, the rest almost even.
void with_sink(const PlantedMap& map, std::int64_t key, double share, std::vector<double>& weights) {
  for (size_t j = 0; j < weights.size(); ++j)
    weights[j] = (1 - share) / 63 * (0.9 + 0.2 * draw(map, static_cast<std::uint32_t>(j)));
  weights[static_cast<size_t>(key)] = share;
}

int layers_beside_null(const Findings& result, const std::string& table, const std::string& quantity,
                       std::int64_t layers) {
  int beside = 0;
  for (std::int64_t l = 0; l < layers; ++l) {
    const Where where = {{"layer", layer_text(l)}, {"quantity", quantity}};
    beside +=
        result.value(table, where, "excess_lower") > 0 || result.value(table, where, "excess_upper") < 0;
  }
  return beside;
}

TEST(PlantedSinks, NothingIsFoundInRandomRows) {
  constexpr std::int64_t kLayers = 24;
  PlantedSpec spec;
  spec.samples = 16;
  spec.steps = 6;
  spec.layers = kLayers;
  spec.groups = {"answer, revealed", "answer, masked"};
  spec.weights = rows_without_structure;
  const auto result = analyse(spec, {"sinks", "steps"});
  for (std::int64_t l = 0; l < kLayers; ++l) {
    for (const char* quantity : {"first_above", "best_above", "rulli_sum", "rulli_percent"}) {
      const Where where = {{"layer", layer_text(l)}, {"quantity", quantity}};
      EXPECT_EQ(result.value("sinks_by_layer", where), 0) << quantity;
    }
  }
  // Intervals of 95% miss the truth 5% of the time: five or more of 24 have a chance of 0.6%.
  EXPECT_LE(layers_beside_null(result, "sinks_by_layer", "first", kLayers), 4);
  EXPECT_LE(layers_beside_null(result, "sinks_by_layer", "same_best", kLayers), 4);
  for (const char* quantity :
       {"cosine", "overlap", "first_cosine", "first_overlap", "recall", "recall_before", "recalled_mass"})
    EXPECT_LE(layers_beside_null(result, "steps_by_layer", quantity, kLayers), 4) << quantity;
}

// Layers 0 and 1: a sink that stays; 2 and 3: one that moves at every step; 4: one that vanishes half-way, in
// the first head alone; 5: masked queries have another than revealed ones.
TEST(PlantedSinks, SinksComeBackWithTheirLives) {
  PlantedSpec spec;
  spec.samples = 6;
  spec.steps = 8;
  spec.layers = 6;
  spec.groups = {"answer, revealed", "answer, masked"};
  spec.weights = [](const PlantedMap& map, std::vector<double>& weights) {
    if (map.layer < 2) return with_sink(map, 0, 0.4, weights);
    if (map.layer < 4) return with_sink(map, 3 + 5 * map.step, 0.4, weights);
    if (map.layer == 4) return with_sink(map, 9, map.head == 0 && map.step < 4 ? 0.4 : 1.0 / 64, weights);
    with_sink(map, map.group == 0 ? 20 : 30, 0.4, weights);
  };
  const auto result = analyse(spec, {"sinks", "steps"});
  const auto found = [&](std::int64_t layer, const char* quantity, const char* column = "value") {
    return result.value("sinks_by_layer", {{"layer", layer_text(layer)}, {"quantity", quantity}}, column);
  };
  for (const std::int64_t layer : {0, 1}) {
    EXPECT_EQ(found(layer, "first_above"), 1);
    EXPECT_EQ(found(layer, "best_above"), 1);
    EXPECT_EQ(found(layer, "rulli_sum"), 1);
    EXPECT_NEAR(found(layer, "rulli_sum_share"), 0.4, 0.01);
    EXPECT_EQ(found(layer, "stays"), 1);
    EXPECT_EQ(found(layer, "static"), 1);
    EXPECT_EQ(found(layer, "lifetime"), 1);
    EXPECT_EQ(found(layer, "same_best"), 1);
    EXPECT_NEAR(found(layer, "stays", "null"), 1.0 / kTokens, 1e-6);
  }
  for (const std::int64_t layer : {2, 3}) {
    EXPECT_EQ(found(layer, "first_above"), 0);
    EXPECT_EQ(found(layer, "best_above"), 1);
    EXPECT_EQ(found(layer, "moves"), 1);
    EXPECT_EQ(found(layer, "stays"), 0);
    EXPECT_EQ(found(layer, "static"), 0);
    EXPECT_NEAR(found(layer, "lifetime"), 1.0 / 8, 1e-6);
  }
  // One head of two, four steps of eight: three of four times in place, once gone.
  EXPECT_EQ(found(4, "best_above"), 0.25);
  EXPECT_EQ(found(4, "stays"), 0.75);
  EXPECT_EQ(found(4, "dies"), 0.25);
  EXPECT_EQ(found(4, "lifetime"), 0.5);
  EXPECT_EQ(found(5, "same_best"), 0);
  EXPECT_NEAR(found(5, "masked_best"), 0.4, 0.01);
  EXPECT_NEAR(found(5, "best"), 0.2, 0.02) << "all queries together have two keys of half that";
  const auto step = [&](std::int64_t layer, const char* quantity) {
    return result.value("steps_by_layer", {{"layer", layer_text(layer)}, {"quantity", quantity}});
  };
  EXPECT_GT(step(0, "cosine"), 0.99);
  EXPECT_LT(step(2, "cosine"), 0.3);
  EXPECT_LT(step(2, "first_cosine"), 0.3);
  EXPECT_GT(step(0, "recalled_mass"), 0.9);
  EXPECT_LT(step(2, "recalled_mass"), 0.5);
}

// A sample in eight lacks the sink: intervals of 7 of 8, resampled, reach beyond 1.
TEST(PlantedSinks, IntervalsOfSharesEndAtOne) {
  PlantedSpec spec;
  spec.samples = 8;
  spec.steps = 2;
  spec.layers = 1;
  spec.weights = [](const PlantedMap& map, std::vector<double>& weights) {
    with_sink(map, 0, map.sample == 0 ? 0.1 : 0.9, weights);
  };
  const auto result = analyse(spec, {"sinks"});
  for (const char* quantity : {"first_above", "best_above"}) {
    const Where where = {{"layer", "0"}, {"quantity", quantity}};
    EXPECT_EQ(result.value("sinks_by_layer", where), 0.875);
    EXPECT_EQ(result.value("sinks_by_layer", where, "upper"), 1);
    EXPECT_EQ(result.value("sinks_by_layer", where, "excess_upper"), 1);
    EXPECT_GT(result.value("sinks_by_layer", where, "lower"), 0);
  }
}

}  // namespace
}  // namespace buoy::testing
