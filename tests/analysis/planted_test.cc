#include "analysis/planted.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <iostream>
#include <set>

#include "support/temp_folder.h"

namespace buoy::testing {
namespace {

using Positions = std::set<std::int64_t>;

std::string text(std::int64_t n) {
  return std::to_string(n);
}

// Every fourth token structure, the rest content.
std::vector<std::string> mixed_texts(std::int64_t tokens) {
  std::vector<std::string> texts;
  for (std::int64_t j = 0; j < tokens; ++j) texts.push_back(j % 4 == 0 ? (j % 8 == 0 ? "\n" : ",") : "word");
  return texts;
}

// Rows of attention without any structure: exponential weights, each query's normalised, summed over queries.
void random_rows(const PlantedMap& map, std::vector<double>& weights) {
  const size_t tokens = weights.size(), queries = tokens / 2;
  std::vector<double> row(tokens);
  std::fill(weights.begin(), weights.end(), 0.0);
  for (size_t i = 0; i < queries; ++i) {
    double total = 0;
    for (size_t j = 0; j < tokens; ++j)
      total += row[j] = -std::log(1 - draw(map, static_cast<std::uint32_t>(i * tokens + j)));
    for (size_t j = 0; j < tokens; ++j) weights[j] += row[j] / total;
  }
}

// Anchors of the given share each on an otherwise almost even row.
struct Anchored {
  Positions positions;
  double share;
};
void plant_anchors(const PlantedMap& map, std::vector<double>& weights, const Anchored& anchored) {
  const auto& [anchors, share] = anchored;
  const double rest = (1 - share * static_cast<double>(anchors.size())) /
                      static_cast<double>(weights.size() - anchors.size());
  for (size_t j = 0; j < weights.size(); ++j)
    weights[j] = anchors.contains(static_cast<std::int64_t>(j))
                     ? share
                     : rest * (0.95 + 0.1 * draw(map, static_cast<std::uint32_t>(j)));
}

// False positives of every analysis on attention that holds nothing.
TEST(Planted, NothingIsFoundInRandomRows) {
  constexpr std::int64_t kLayers = 8, kTokens = 48;
  PlantedSpec spec;
  spec.samples = 16;
  spec.steps = 8;
  spec.layers = kLayers;
  spec.tokens = kTokens;
  spec.prompt = 16;
  spec.groups = {"answer, even", "answer, odd"};
  spec.texts = mixed_texts(kTokens);
  spec.weights = random_rows;
  const auto result = analyse(spec, {"floating", "drift", "absorption", "structure"});
  double floating = 0;
  int drifts = 0, sinks = 0, structures = 0, compositions = 0;
  const auto outside = [](double lower, double upper, double null) { return null < lower || upper < null; };
  for (std::int64_t l = 0; l < kLayers; ++l) {
    const Where layer = {{"layer", text(l)}, {"view", "head_mean"}};
    const auto with = [&](Where more) {
      more.insert(more.end(), layer.begin(), layer.end());
      return more;
    };
    floating +=
        result.value("floating_by_layer", {{"layer", text(l)}, {"view", "per_head"}, {"rule", "three_sigma"}},
                     "set_size") /
        kLayers;
    for (const auto* rule : {"share_4", "share_8", "rulli_sum", "rulli_percent"})
      EXPECT_EQ(result.value("floating_by_layer", with({{"rule", rule}}), "set_size"), 0) << rule;
    EXPECT_LT(result.value("floating_by_layer", with({{"rule", "robust"}}), "set_size"), 0.02);
    const Where step = with({{"positions", "all"}, {"scalar", "spearman_step"}});
    drifts += outside(result.value("drift_by_layer", step, "lower"),
                      result.value("drift_by_layer", step, "upper"), 0);
    const Where sink = with({{"selector", "position_0"}, {"steps", "all"}});
    sinks += outside(result.value("absorption_by_layer", sink, "lift_lower"),
                     result.value("absorption_by_layer", sink, "lift_upper"), 1);
    const Where mass = {{"layer", text(l)}, {"queries", "all"}, {"class", "structural"}};
    structures += outside(result.value("structure_by_layer", mass, "lift_lower"),
                          result.value("structure_by_layer", mass, "lift_upper"), 1);
    const Where kind = with({{"rule", "three_sigma"}, {"class", "structural"}});
    compositions += outside(result.value("structure_floating", kind, "lower"),
                            result.value("structure_floating", kind, "upper"),
                            result.value("structure_floating", kind, "base"));
    // Choosing the largest biases upwards what it holds; choosing on one half and scoring on the other does
    // not.
    const Where half = with({});
    EXPECT_GT(result.value("absorption_split_half", half, "same_percent"), 1.3 * 100 / kTokens);
    EXPECT_NEAR(result.value("absorption_split_half", half, "split_percent"), 100.0 / kTokens,
                0.05 * 100 / kTokens);
  }
  // Column means of 48 exponential rows have skew 0.29: P(z > 3) is 0.3%, so 0.14 of 48 positions by the
  // Edgeworth series; a row's own outlier widens the deviation a little. That is the false-positive rate of
  // three sigma.
  std::cout << "random rows: three sigma marks " << floating
            << " of 48 positions; intervals of 8 layers that miss "
            << "the null: drift " << drifts << ", absorption " << sinks << ", structure " << structures
            << ", make-up of floating tokens " << compositions << "\n";
  EXPECT_GT(floating, 0.05);
  EXPECT_LT(floating, 0.25);
  // Intervals of 95% miss the truth 5% of the time: two of eight are unremarkable (p = 0.06 for each of
  // these).
  EXPECT_LE(drifts, 2);
  EXPECT_LE(sinks, 2);
  EXPECT_LE(structures, 2);
  EXPECT_LE(compositions, 2);
  const Where slope = {{"quantity", "lift"}, {"class", "structural"}, {"queries", "all"}, {"depth", "slope"}};
  EXPECT_LT(std::abs(result.value("structure_depth", slope)), 0.05);
}

// Two anchors of 20% each: on structural tokens in the first three layers, on content in the last three.
TEST(Planted, AnchorsAreFoundWithTheirSizeAndKind) {
  PlantedSpec spec;
  spec.samples = 8;
  spec.steps = 4;
  spec.layers = 6;
  spec.prompt = 48;
  spec.texts = mixed_texts(64);
  spec.gold.assign(64, 0);
  spec.gold[5] = spec.gold[21] = 1;
  spec.weights = [](const PlantedMap& map, std::vector<double>& weights) {
    plant_anchors(map, weights, {map.layer < 3 ? Positions{4, 20} : Positions{5, 21}, 0.2});
  };
  const auto result = analyse(spec, {"floating", "absorption", "structure"});
  for (std::int64_t l = 0; l < 6; ++l) {
    for (const auto* view : {"head_mean", "per_head"}) {
      const Where set = {{"layer", text(l)}, {"view", view}, {"rule", "three_sigma"}};
      EXPECT_DOUBLE_EQ(result.value("floating_by_layer", set, "set_size"), 2);
      EXPECT_NEAR(result.value("floating_by_layer", set, "share"), 0.4, 0.01);
      const Where kind = {
          {"layer", text(l)}, {"view", view}, {"rule", "three_sigma"}, {"class", "structural"}};
      EXPECT_DOUBLE_EQ(result.value("structure_floating", kind, "share"), l < 3 ? 1 : 0);
      const Where absorbed = {
          {"layer", text(l)}, {"view", view}, {"selector", "three_sigma"}, {"steps", "all"}};
      EXPECT_NEAR(result.value("absorption_by_layer", absorbed, "absorbed_percent"), 40, 1);
      EXPECT_NEAR(result.value("absorption_by_layer", absorbed, "floor_percent"), 200.0 / 64, 1e-9);
      EXPECT_NEAR(result.value("absorption_by_layer", absorbed, "lift"), 0.4 * 64 / 2, 0.3);
    }
    // Evidence is what the deep anchors sit on: 2 of 64 positions.
    const Where gold = {{"layer", text(l)}, {"queries", "all"}, {"class", "evidence"}};
    EXPECT_NEAR(result.value("structure_by_layer", gold, "lift"), l < 3 ? 0.62 : 12.8, l < 3 ? 0.03 : 0.3);
  }
  // Shallow structure, deep content. Least squares of 1 1 1 0 0 0 over 0, 0.2, .. 1: -9/7 (by hand:
  // -0.9/0.7).
  const Where slope = {{"quantity", "floating_share"},
                       {"class", "structural"},
                       {"rule", "three_sigma"},
                       {"view", "head_mean"},
                       {"depth", "slope"}};
  EXPECT_NEAR(result.value("structure_depth", slope), -9.0 / 7, 1e-9);
  const Where lift = {{"quantity", "lift"}, {"class", "structural"}, {"queries", "all"}, {"depth", "slope"}};
  EXPECT_LT(result.value("structure_depth", lift, "upper"), -1);
}

TEST(Planted, ACausalSinkIsFoundAboveItsFloor) {
  PlantedSpec spec;
  spec.samples = 4;
  spec.causal = true;
  spec.weights = [](const PlantedMap& map, std::vector<double>& weights) {
    plant_anchors(map, weights, {{0}, 0.5});
  };
  const auto result = analyse(spec, {"absorption", "drift"});
  double harmonic = 0;
  for (int n = 64; n >= 1; --n) harmonic += 1.0 / n;
  const Where sink = {{"layer", "0"}, {"steps", "final"}, {"view", "head_mean"}, {"selector", "position_0"}};
  EXPECT_NEAR(result.value("absorption_by_layer", sink, "absorbed_percent"), 50, 1);
  EXPECT_NEAR(result.value("absorption_by_layer", sink, "floor_percent"), 100 * harmonic / 64, 1e-9);
  EXPECT_NEAR(result.value("absorption_by_layer", sink, "lift"), 32 / harmonic, 0.1);
  EXPECT_EQ(result.value("absorption_published", {{"layer", "0"}}, "saw_final_row"), 1);
}

// Layer 0: an anchor that walks right by one position per step, whatever is unmasked. Layer 1: an anchor at
// the unmasking frontier, give or take one. Layer 2: an anchor that never moves.
TEST(Planted, DriftIsToldFromTheFrontier) {
  PlantedSpec spec;
  spec.layers = 3;
  spec.weights = [](const PlantedMap& map, std::vector<double>& weights) {
    PlantedMap shared = map;
    shared.head = 0;  // both heads jitter alike
    const auto jitter = static_cast<std::int64_t>(3 * draw(shared, 1000));
    const std::int64_t at = map.layer == 0   ? 10 + map.step
                            : map.layer == 1 ? 31 + map.leading % 31 + jitter
                                             : 7;
    plant_anchors(map, weights, {{std::min<std::int64_t>(at, 63)}, 0.3});
  };
  const auto result = analyse(spec, {"drift"});
  for (const auto* view : {"head_mean", "per_head"}) {
    const auto scalar = [&](int layer, const char* name, const char* column = "value") {
      return result.value("drift_by_layer",
                          {{"layer", text(layer)}, {"view", view}, {"positions", "all"}, {"scalar", name}},
                          column);
    };
    EXPECT_DOUBLE_EQ(scalar(0, "spearman_step"), 1);
    EXPECT_DOUBLE_EQ(scalar(0, "moves"), 15);
    EXPECT_DOUBLE_EQ(scalar(0, "mean_distance"), 1);
    EXPECT_TRUE(std::isnan(scalar(0, "spearman_step_given_frontier")) ||
                scalar(0, "spearman_step_given_frontier") > 0.9);
    EXPECT_GT(scalar(1, "spearman_step", "lower"), 0.2) << "the frontier moves right, and with it the anchor";
    EXPECT_LT(std::abs(scalar(1, "spearman_step_given_frontier")), 0.2) << "nothing beyond the frontier";
    EXPECT_DOUBLE_EQ(scalar(2, "static"), 1);
    EXPECT_EQ(scalar(2, "spearman_step", "samples"), 0);
  }
  EXPECT_LT(std::abs(result.value("drift_order", {{"scalar", "reveal_order"}})), 0.15);
}

// docs/measurements.md 9: the sets of the published drift figure.
TEST(Planted, ThePublishedDriftFigureHasItsJaccard) {
  PlantedSpec spec;
  spec.samples = 1;
  spec.steps = 32;
  spec.heads = 1;
  spec.tokens = 52;
  spec.prompt = 20;
  spec.order = RevealOrder::kLeftToRight;
  spec.weights = [](const PlantedMap& map, std::vector<double>& weights) {
    const std::int64_t s = map.step;
    Positions set;
    if (map.layer == 0) {
      if (s == 0) set.insert(3);
      if (s <= 25) set.insert(17);
      if (s >= 1 && s <= 25) set.insert(20);
      if (s >= 26) set.insert(45);
      if (s == 31) set.insert(51);
    } else {
      set.insert(s == 1 ? 20 : s == 4 ? 22 : 17);
    }
    plant_anchors(map, weights, {set, 0.15});
  };
  const auto result = analyse(spec, {"drift"});
  const auto scalar = [&](int layer, const char* name) {
    return result.value("drift_by_layer", {{"layer", text(layer)},
                                           {"view", "head_mean"},
                                           {"positions", "all"},
                                           {"scalar", name},
                                           {"rule", "three_sigma"}});
  };
  EXPECT_NEAR(scalar(0, "jaccard"), (28 + 1.0 / 3 + 1.0 / 2) / 31, 1e-12);
  EXPECT_NEAR(scalar(0, "jaccard"), 0.93, 5e-3);
  EXPECT_NEAR(scalar(1, "jaccard"), 27.0 / 31, 1e-12);
  EXPECT_NEAR(scalar(1, "jaccard"), 0.87, 5e-3);
  EXPECT_NEAR(scalar(1, "persistence"), 27.0 / 32, 1e-12) << "steps 5 to 31";
  EXPECT_NEAR(result.value("drift_order", {{"scalar", "reveal_order"}}), 1, 1e-12);
}

// 1,000 samples of 32 x 32 such slices: at 1 ms each an analysis takes 17 minutes. The bound leaves room for
// -O1, sanitizers and slow machines; the time is processor time.
TEST(Planted, ASliceOf32HeadsAnd512TokensIsFast) {
  PlantedSpec spec;
  spec.samples = 1;
  spec.steps = 4;
  spec.heads = 32;
  spec.tokens = 512;
  spec.prompt = 256;
  spec.texts = mixed_texts(512);
  spec.weights = [](const PlantedMap& map, std::vector<double>& weights) {
    plant_anchors(map, weights, {{map.head, 300 + map.step}, 0.1});
  };
  analysis::AnalysisOptions options;
  options.bootstrap.replicates = 100;
  const TempFolder folder;
  write_trace(folder / "planted", plant(spec));
  for (const auto* name : {"floating", "drift", "absorption", "structure"}) {
    const std::clock_t begin = std::clock();
    analysis::run_analyses({name}, {{folder / "planted", "planted"}}, {options, 0, {}});
    const double milliseconds = 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / 8;
    RecordProperty(name, std::to_string(milliseconds));
    std::cout << name << ": " << milliseconds << " ms per step and layer\n";
    EXPECT_LT(milliseconds, 100) << name;
  }
}

}  // namespace
}  // namespace buoy::testing
