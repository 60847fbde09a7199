// Sinks, heads, drift and attention from step to step: what was planted is found, and nothing in rows without
// structure.

#include <gtest/gtest.h>

#include <algorithm>
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

// Numbers from `least` to `most` that have nothing to do with the attention; `salt`: other numbers.
PlantedSpec::Fill noise(double least, double most, std::uint32_t salt) {
  return [=](const PlantedMap& map, std::vector<double>& numbers) {
    for (size_t j = 0; j < numbers.size(); ++j)
      numbers[j] = least + (most - least) * draw(map, salt * 65536 + static_cast<std::uint32_t>(j));
  };
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
  spec.gold.assign(kTokens, 0);
  std::fill(spec.gold.begin() + 6, spec.gold.begin() + 14, 1);
  spec.values = noise(0.2, 2, 1);
  spec.by_token = {{"entropy", noise(2, 4, 2)},
                   {"first_share", noise(0, 2.0 / kTokens, 3)},
                   {"key_cosine", noise(0.8, 1, 4)},
                   {"value_cosine", noise(0.5, 1, 5)}};
  spec.dense = noise(0, 1, 6);
  const auto result = analyse(spec, {"sinks", "steps", "heads", "kvdrift", "rollout"});
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
  for (const char* quantity : {"value_ratio", "drain", "contribution"})
    EXPECT_LE(layers_beside_null(result, "sinks_by_layer", quantity, kLayers), 4) << quantity;
  for (const char* quantity : {"first_prompt", "first_masked", "first_revealed", "attended_length"})
    EXPECT_LE(layers_beside_null(result, "heads_by_layer", quantity, kLayers), 4) << quantity;
  for (const char* quantity : {"keys_best", "keys_masked", "keys_revealed", "keys_settled", "values_best",
                               "values_masked", "values_revealed", "values_settled"})
    EXPECT_LE(layers_beside_null(result, "kvdrift_by_layer", quantity, kLayers), 4) << quantity;
  for (const char* quantity : {"keys", "values"}) {
    const Where where = {{"quantity", quantity}, {"depth", "slope"}};
    EXPECT_LE(result.value("kvdrift_depth", where, "lower"), 0) << quantity;
    EXPECT_GE(result.value("kvdrift_depth", where, "upper"), 0) << quantity;
  }
  // All layers of a rollout rest on the same rows: they are not independent.
  for (const char* quantity : {"first", "prompt", "evidence"})
    EXPECT_LE(layers_beside_null(result, "rollout_by_layer", quantity, kLayers), 4) << quantity;
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

// Layer 0: the value at the sink is a quarter as long as the others; 1: all are alike; 2: another key's is
// short.
TEST(PlantedSinks, ShortValuesAtSinksComeBack) {
  PlantedSpec spec;
  spec.samples = 8;
  spec.steps = 4;
  spec.layers = 3;
  spec.weights = [](const PlantedMap& map, std::vector<double>& weights) { with_sink(map, 9, 0.4, weights); };
  spec.values = [](const PlantedMap& map, std::vector<double>& lengths) {
    std::fill(lengths.begin(), lengths.end(), 2.0);
    if (map.layer != 1) lengths[map.layer == 0 ? 9 : 5] = 0.5;
  };
  const auto result = analyse(spec, {"sinks"});
  const auto found = [&](std::int64_t layer, const char* quantity, const char* column = "value") {
    return result.value("sinks_by_layer", {{"layer", layer_text(layer)}, {"quantity", quantity}}, column);
  };
  // Of a key drawn at random: the short one a quarter, any of 63 others 2 over the mean of the rest.
  const double others = 2 / ((62 * 2 + 0.5) / 63), drawn = (0.25 + 63 * others) / 64;
  EXPECT_NEAR(found(0, "value_ratio"), 0.25, 1e-6);
  EXPECT_NEAR(found(0, "value_ratio", "null"), drawn, 1e-6);
  EXPECT_NEAR(found(0, "drain"), 1, 1e-6);
  EXPECT_NEAR(found(0, "drain", "null"), 1.0 / 64, 1e-6);
  EXPECT_NEAR(found(0, "contribution"), 0.4 * 0.5 / (0.4 * 0.5 + 0.6 * 2), 1e-3);
  EXPECT_NEAR(found(0, "contribution", "null"), 0.4, 1e-3);
  EXPECT_NEAR(found(1, "value_ratio"), 1, 1e-6);
  EXPECT_NEAR(found(1, "value_ratio", "null"), 1, 1e-6);
  EXPECT_EQ(found(1, "drain"), 0);
  EXPECT_EQ(found(1, "drain", "null"), 0);
  EXPECT_NEAR(found(1, "contribution", "excess"), 0, 1e-6);
  EXPECT_NEAR(found(2, "value_ratio"), others, 1e-6);
  EXPECT_NEAR(found(2, "value_ratio", "null"), drawn, 1e-6);
  EXPECT_EQ(found(2, "drain"), 0);
  EXPECT_NEAR(found(2, "drain", "null"), 1.0 / 64, 1e-6);
}

// Rows attend to as many keys as their head and what they write says, evenly; some of it on the first key.
TEST(PlantedSinks, EntropyComesBackByHeadAndByWhatRowsWrite) {
  PlantedSpec spec;
  spec.samples = 4;
  spec.steps = 8;
  spec.order = RevealOrder::kLeftToRight;
  const auto keys_of = [&](const PlantedMap& map, size_t row) {
    const auto position = static_cast<std::int64_t>(row);
    const double keys = position < spec.prompt ? 32 : position < spec.prompt + map.leading ? 8 : 4;
    return map.head == 0 ? keys : keys / 2;
  };
  spec.weights = [](const PlantedMap& map, std::vector<double>& weights) { with_sink(map, 9, 0.4, weights); };
  spec.values = [](const PlantedMap& map, std::vector<double>& lengths) {
    std::fill(lengths.begin(), lengths.end(), 2.0);
    if (map.layer == 0) lengths[9] = 0.5;
  };
  spec.by_token["entropy"] = [&](const PlantedMap& map, std::vector<double>& nats) {
    for (size_t i = 0; i < nats.size(); ++i) nats[i] = std::log(keys_of(map, i));
  };
  spec.by_token["first_share"] = [&](const PlantedMap& map, std::vector<double>& shares) {
    for (size_t i = 0; i < shares.size(); ++i) shares[i] = 1 / keys_of(map, i);
  };
  const auto result = analyse(spec, {"heads"});
  const auto by_head = [&](int head, const char* quantity, const char* column = "value") {
    return result.value("heads_by_head",
                        {{"layer", "0"}, {"head", std::to_string(head)}, {"quantity", quantity}}, column);
  };
  for (const int head : {0, 1}) {
    const double half = head == 0 ? 1 : 2;
    for (const auto& [sort, keys] :
         {std::pair{"prompt", 32}, std::pair{"revealed", 8}, std::pair{"masked", 4}}) {
      const std::string of_sort = sort;
      EXPECT_NEAR(by_head(head, ("entropy_" + of_sort).c_str()), std::log(keys / half), 1e-6) << sort;
      EXPECT_NEAR(by_head(head, ("entropy_" + of_sort).c_str(), "null"), std::log(64), 1e-6) << sort;
      EXPECT_NEAR(by_head(head, ("first_" + of_sort).c_str()), half / keys, 1e-6) << sort;
      EXPECT_NEAR(by_head(head, ("first_" + of_sort).c_str(), "null"), 1.0 / 64, 1e-6) << sort;
    }
    // Half of the rows write the prompt; of the others 0, 4, ..., 28 of 32 are revealed: 14 on average.
    const double mean = (32 * std::log(32 / half) + 14 * std::log(8 / half) + 18 * std::log(4 / half)) / 64;
    EXPECT_NEAR(by_head(head, "entropy"), mean, 1e-6);
    EXPECT_NEAR(by_head(head, "entropy_share"), mean / std::log(64), 1e-6);
  }
  const auto by_layer = [&](const char* layer, const char* quantity, const char* column = "value") {
    return result.value("heads_by_layer", {{"layer", layer}, {"quantity", quantity}}, column);
  };
  EXPECT_NEAR(by_layer("0", "value_length"), (63 * 2 + 0.5) / 64, 1e-5);
  EXPECT_NEAR(by_layer("0", "attended_length"), 0.4 * 0.5 + 0.6 * 2, 1e-3);
  EXPECT_NEAR(by_layer("0", "attended_length", "null"), (63 * 2 + 0.5) / 64, 1e-5);
  EXPECT_NEAR(by_layer("1", "attended_length", "excess"), 0, 1e-5);
}

// Heads have a sink one time in two and sleep one time in two. Together: layer 0. Each for itself: the
// others.
TEST(PlantedSinks, HeadsThatSleepAtTheirSinksAreFound) {
  constexpr std::int64_t kLayers = 16;
  PlantedSpec spec;
  spec.samples = 16;
  spec.steps = 4;
  spec.layers = kLayers;
  spec.heads = 8;
  const auto has_sink = [](const PlantedMap& map) { return draw(map, 1000) < 0.5; };
  const auto sleeps = [=](const PlantedMap& map) {
    return map.layer == 0 ? has_sink(map) : draw(map, 1001) < 0.5;
  };
  spec.weights = [=](const PlantedMap& map, std::vector<double>& weights) {
    with_sink(map, 9, has_sink(map) ? 0.4 : 0.1, weights);
  };
  spec.values = noise(1, 1, 1);
  spec.by_token = {{"entropy", noise(2, 4, 2)}, {"first_share", noise(0, 2.0 / kTokens, 3)}};
  spec.by_token["head_norm"] = [=](const PlantedMap& map, std::vector<double>& lengths) {
    std::fill(lengths.begin(), lengths.end(), sleeps(map) ? 0.1 : 1.0);
  };
  const auto result = analyse(spec, {"heads"});
  const Where together = {{"layer", "0"}, {"quantity", "dormant_at_sink"}};
  EXPECT_NEAR(result.value("heads_by_layer", together), 0.5, 0.05);
  EXPECT_NEAR(result.value("heads_by_layer", together, "null"), 0.25 + 0.25 / 8, 0.05);
  EXPECT_GT(result.value("heads_by_layer", together, "excess_lower"), 0.15);
  EXPECT_NEAR(result.value("heads_by_layer", {{"layer", "1"}, {"quantity", "dormant"}}), 0.5, 0.05);
  EXPECT_LE(layers_beside_null(result, "heads_by_layer", "dormant_at_sink", kLayers), 1 + 3);
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
