#include <gtest/gtest.h>

#include <cmath>

#include "analysis/synthetic_trace.h"
#include "buoy/trace/schema.h"

namespace buoy::testing {
namespace {

constexpr std::int64_t kTokens = 48, kHeads = 2, kSize = 8, kPrompt = 10;

// Who sees whom, and in how long a row.
struct Design {
  std::string attention = "bidirectional";
  std::int64_t tokens = kTokens;
  std::int64_t floating_below = tokens;  // the floating key stands somewhere before it
};

// What the floating key of a layer is like, beside keys of norm 1 and cosine 0.3 (each within 5%).
struct Plant {
  double norm = 1, cosine = 0.3;
};

struct Vectors {
  std::vector<std::vector<double>> queries, keys;  // [tokens][kSize]
};

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t d = 0; d < a.size(); ++d) sum += a[d] * b[d];
  return sum;
}
double length(const std::vector<double>& a) {
  return std::sqrt(dot(a, a));
}

// All queries point the same way, so a key's cosine is the same to each and lengths and angles can be planted
// exactly; the lengths of the queries vary.
Vectors draw(Draws& draws, const Plant& plant, std::int64_t floating, std::int64_t tokens = kTokens) {
  Vectors out;
  for (std::int64_t j = 0; j < tokens; ++j) {
    std::vector<double> query(kSize, 0.0), key(kSize, 0.0);
    query[0] = 2 + 0.2 * draws.bell();
    const bool floats = j == floating;
    const double norm = (floats ? plant.norm : 1) * (1 + 0.05 * draws.bell());
    const double cosine = std::min((floats ? plant.cosine : 0.3) * (1 + 0.05 * draws.bell()), 0.999);
    std::vector<double> aside(kSize, 0.0);
    for (size_t d = 1; d < kSize; ++d) aside[d] = draws.bell();
    const double scale = norm * std::sqrt(1 - cosine * cosine) / length(aside);
    for (size_t d = 1; d < kSize; ++d) key[d] = aside[d] * scale;
    key[0] = norm * cosine;
    out.queries.push_back(query);
    out.keys.push_back(key);
  }
  return out;
}

struct Arrays {
  std::vector<float> dot, cosine, norm, self, query_norm, key_norm, received;
};

bool sees(const std::string& attention, std::int64_t query, std::int64_t key) {
  return attention == "bidirectional" || key <= query || (attention == "prefix" && key < kPrompt);
}

void put(Arrays& to, const Vectors& v, const std::string& attention) {
  const std::int64_t tokens = std::ssize(v.keys);
  for (std::int64_t j = 0; j < tokens; ++j) {
    const auto& key = v.keys[static_cast<size_t>(j)];
    double s = 0, c = 0, n = 0, seeing = 0;
    for (std::int64_t i = 0; i < tokens; ++i) {
      if (!sees(attention, i, j)) continue;
      const auto& query = v.queries[static_cast<size_t>(i)];
      s += dot(query, key);
      n += length(query) * length(key);
      c += dot(query, key) / length(query) / length(key);
      seeing += 1;
    }
    to.dot.push_back(static_cast<float>(s / seeing));
    to.cosine.push_back(static_cast<float>(c / seeing));
    to.norm.push_back(static_cast<float>(n / seeing));
    to.self.push_back(static_cast<float>(dot(v.queries[static_cast<size_t>(j)], key)));
    to.query_norm.push_back(static_cast<float>(length(v.queries[static_cast<size_t>(j)])));
    to.key_norm.push_back(static_cast<float>(length(key)));
  }
}

// One floating key per sample, the same in all layers and heads, holding half of the attention.
SyntheticTrace plant(const std::vector<Plant>& layers, int samples, std::uint64_t seed,
                     const Design& design = {}) {
  const std::int64_t tokens = design.tokens;
  const auto L = static_cast<std::int64_t>(layers.size());
  SyntheticTrace trace({L, kHeads, kSize});
  Draws draws(seed);
  for (int n = 0; n < samples; ++n) {
    SyntheticTrace::Row row;
    row.tokens.assign(static_cast<size_t>(tokens), 1);
    row.prompt_length = kPrompt;
    auto& sample = trace.add(row);
    sample.metadata[std::string(trace::kAttention)] = design.attention;
    const std::int64_t floating = draws.below(design.floating_below);
    Arrays arrays;
    for (const auto& layer : layers) {
      for (std::int64_t h = 0; h < kHeads; ++h) {
        put(arrays, draw(draws, layer, floating, tokens), design.attention);
        const auto all = static_cast<double>(tokens);
        for (std::int64_t j = 0; j < tokens; ++j)
          arrays.received.push_back(static_cast<float>(j == floating ? all * 0.5 : all * 0.5 / (all - 1)));
      }
    }
    const std::vector<std::int64_t> shape = {1, L, kHeads, tokens};
    for (const auto& [name, values] :
         {std::pair{trace::kQkAfterDot, &arrays.dot}, std::pair{trace::kQkAfterCosine, &arrays.cosine},
          std::pair{trace::kQkAfterNormProduct, &arrays.norm},
          std::pair{trace::kQkAfterSelfDot, &arrays.self}, std::pair{trace::kQkBeforeDot, &arrays.dot},
          std::pair{trace::kQkBeforeCosine, &arrays.cosine},
          std::pair{trace::kQkBeforeNormProduct, &arrays.norm},
          std::pair{trace::kQkBeforeSelfDot, &arrays.self}, std::pair{trace::kQueryNorm, &arrays.query_norm},
          std::pair{trace::kKeyNorm, &arrays.key_norm}})
      sample.arrays.push_back(trace::float_array(name, shape, *values));
    sample.arrays.push_back(trace::float_array(trace::kReceived, {1, L, 1, kHeads, tokens}, arrays.received));
    sample.arrays.push_back(trace::integer_array(
        trace::kGroupSizes, {1, 1}, std::vector<std::int32_t>{static_cast<std::int32_t>(tokens)}));
  }
  return trace;
}

const std::map<std::string, std::string> kSet = {{"set", "three_sigma_head"}, {"stage", "after"}};

std::map<std::string, std::string> at_layer(int layer) {
  auto where = kSet;
  where["layer"] = std::to_string(layer);
  return where;
}

TEST(PlantedQk, AColumnIsTheMeanOverTheOtherQueriesThatSeeIt) {
  for (const std::string attention : {"bidirectional", "causal", "prefix"}) {
    const Plant one{2, 0.6};
    Draws draws(5);
    const std::int64_t floating = draws.below(kTokens);
    const Vectors v = draw(draws, one, floating);  // of head 0
    analysis::AnalysisOptions options;
    options.layer = options.head = options.sample = 0;
    const auto tables = plant({one}, 1, 5, {attention}).analyze("qk", options);
    const Table after = rows_where(table_of(tables, "qk_columns"), {{"stage", "after"}});
    // The last column of a causal mask has no query but its own.
    EXPECT_EQ(std::ssize(after.rows), attention == "bidirectional" ? kTokens : kTokens - 1) << attention;
    for (std::int64_t j = 0; j < std::ssize(after.rows); ++j) {
      double sum = 0, seeing = 0;
      for (std::int64_t i = 0; i < kTokens; ++i) {
        if (i == j || !sees(attention, i, j)) continue;
        sum += dot(v.queries[static_cast<size_t>(i)], v.keys[static_cast<size_t>(j)]);
        seeing += 1;
      }
      EXPECT_NEAR(number_at(after, {{"position", std::to_string(j)}}, "dot"), sum / seeing, 1e-4)
          << attention << ", column " << j;
    }
  }
}

TEST(PlantedQk, AngleLengthAndMixedAdvantagesComeBackWithTheirSplit) {
  // Layer 0: length only (3 times). Layer 1: both, norm 1.5 and cosine 0.6 against 1 and 0.3: order-free
  // scale 0.5 * 0.45 = 0.225, direction 0.3 * 1.25 = 0.375 of 0.6, so 0.375 and 0.625. Layer 2: angle only
  // (0.9).
  const auto tables = plant({{3, 0.3}, {1.5, 0.6}, {1, 0.9}}, 40, 11).analyze("qk");
  const Table& layers = table_of(tables, "qk_by_layer");
  const double angle[] = {0, 0.625, 1}, scale[] = {1, 0.375, 0};
  for (int layer = 0; layer < 3; ++layer) {
    EXPECT_NEAR(number_at(layers, at_layer(layer), "fraction_angle"), angle[layer], 0.03) << layer;
    EXPECT_NEAR(number_at(layers, at_layer(layer), "fraction_scale"), scale[layer], 0.03) << layer;
    EXPECT_LE(number_at(layers, at_layer(layer), "fraction_angle_lower"), angle[layer] + 0.01);
    EXPECT_GE(number_at(layers, at_layer(layer), "fraction_angle_upper"), angle[layer] - 0.01);
    // One direction of all queries: no covariance of length and angle.
    EXPECT_NEAR(number_at(layers, at_layer(layer), "fraction_residual"), 0, 0.01);
    EXPECT_EQ(number_at(layers, at_layer(layer), "floating_columns"), 1);
    EXPECT_EQ(number_at(layers, at_layer(layer), "defined"), 1);
  }
  // Mean |q| is 2. Advantages: 2 (3 * 0.3 - 0.3) = 1.2; 2 (0.9 - 0.3) = 1.2; the same; ranks at the very top.
  for (int layer = 0; layer < 3; ++layer)
    EXPECT_NEAR(number_at(layers, at_layer(layer), "advantage"), 1.2, 0.03) << layer;
  EXPECT_EQ(number_at(layers, at_layer(2), "rank_cosine"), 0);
  EXPECT_EQ(number_at(layers, at_layer(0), "rank_norm"), 0);
  EXPECT_GT(number_at(layers, at_layer(0), "z_norm"), 20);
  EXPECT_LT(std::abs(number_at(layers, at_layer(0), "z_cosine")), 0.5);
}

// The same truth under every mask and in rows of other lengths.
TEST(PlantedQk, TheSplitDoesNotDependOnMaskAndLength) {
  const double angle[] = {0, 0.625, 1};
  for (const std::string attention : {"bidirectional", "causal", "prefix"}) {
    for (const std::int64_t tokens : {24, 160}) {
      const Design design{attention, tokens, tokens / 2};
      const auto tables = plant({{3, 0.3}, {1.5, 0.6}, {1, 0.9}}, 24, 15, design).analyze("qk");
      const Table& layers = table_of(tables, "qk_by_layer");
      for (int layer = 0; layer < 3; ++layer) {
        EXPECT_NEAR(number_at(layers, at_layer(layer), "fraction_angle"), angle[layer], 0.03)
            << attention << tokens;
        EXPECT_NEAR(number_at(layers, at_layer(layer), "fraction_scale"), 1 - angle[layer], 0.03)
            << attention << tokens;
      }
      auto where = kSet;
      where["statistic"] = "slope of the fraction due to angle";
      EXPECT_NEAR(number_at(table_of(tables, "qk_depth"), where, "value"), 1, 0.05) << attention << tokens;
    }
  }
}

TEST(PlantedQk, TheShareDueToAngleRisesWithDepth) {
  // 0, 0.625, 1 at depths 0, 0.5, 1: slope 1.
  const auto tables = plant({{3, 0.3}, {1.5, 0.6}, {1, 0.9}}, 40, 12).analyze("qk");
  auto where = kSet;
  where["statistic"] = "slope of the fraction due to angle";
  const Table& depth = table_of(tables, "qk_depth");
  EXPECT_NEAR(number_at(depth, where, "value"), 1, 0.05);
  EXPECT_GT(number_at(depth, where, "value_lower"), 0.9);
  EXPECT_LT(number_at(depth, where, "value_upper"), 1.1);
  where["statistic"] = "fraction due to angle of the deep third";
  EXPECT_NEAR(number_at(depth, where, "value"), 1, 0.03);
}

TEST(PlantedQk, AShorterKeyAtABetterAngleHasANegativeScaleTerm) {
  // The published layer 28: norm 0.65, angle does everything and more.
  const auto tables = plant({{0.65, 0.9}}, 20, 13).analyze("qk");
  const Table& layers = table_of(tables, "qk_by_layer");
  // scale -0.35 * 0.6 = -0.21, direction 0.6 * 0.825 = 0.495 of 0.285.
  EXPECT_NEAR(number_at(layers, at_layer(0), "fraction_scale"), -0.21 / 0.285, 0.06);
  EXPECT_NEAR(number_at(layers, at_layer(0), "fraction_angle"), 0.495 / 0.285, 0.06);
  EXPECT_LT(number_at(layers, at_layer(0), "scale_upper"), 0);
  EXPECT_EQ(number_at(layers, at_layer(0), "rank_norm"), 1);
}

TEST(PlantedQk, KeysLikeTheOthersHaveNoAdvantage) {
  // 40 null layers of 24 samples. A 95% interval misses in 5% of cases; more than 6 of 40 would come by
  // chance in 0.3% of seeds.
  const auto tables = plant(std::vector<Plant>(40), 24, 14).analyze("qk");
  const Table& layers = table_of(tables, "qk_by_layer");
  int alarms = 0;
  for (int layer = 0; layer < 40; ++layer) {
    const double lower = number_at(layers, at_layer(layer), "advantage_lower");
    const double upper = number_at(layers, at_layer(layer), "advantage_upper");
    alarms += lower > 0 || upper < 0;
    EXPECT_NEAR(number_at(layers, at_layer(layer), "advantage"), 0, 0.06);
  }
  EXPECT_LE(alarms, 6);
}

}  // namespace
}  // namespace buoy::testing
