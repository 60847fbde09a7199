// Every estimator against a truth that was put in: under every mask, for both offsets of predictions, at
// several lengths. The truth is one number, the same for all of them.

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "planted/masked_attention.h"
#include "support/written_table.h"

namespace buoy::testing {
namespace {

struct Case {
  Arm arm;
  std::int64_t tokens;
};

// BOS, a long query, three documents, an answer; a quarter of the answer is padding.
MaskedAttention layout(const Case& one) {
  const std::int64_t part = one.tokens / 16;
  MaskedAttention out;
  out.arm = one.arm;
  out.pieces = {{"bos", 1},           {"query", 7 * part - 1},  {"document 1", 2 * part},
                {"document 2", part}, {"document 3", 2 * part}, {"answer", 4 * part}};
  out.padding = part;
  out.gold = "document 2";
  return out;
}

class Planted : public ::testing::TestWithParam<Case> {};

// One column that takes 0.3 of every query that sees it, beside even attention.
TEST_P(Planted, AColumnIsTheFloatingSet) {
  constexpr double kShare = 0.3;
  constexpr std::int64_t kColumn = 2;
  MaskedAttention given = layout(GetParam());
  given.weights = [](const AttentionRow&, std::span<double> weights) {
    const double others = static_cast<double>(weights.size()) - 1;
    const bool seen = std::ssize(weights) > kColumn;
    for (size_t j = 0; j < weights.size(); ++j)
      weights[j] = !seen ? 1 : j == kColumn ? kShare : (1 - kShare) / others;
  };
  const auto tables = given.trace().analyze("floating");
  for (const char* view : {"head_mean", "per_head"}) {
    for (const char* layer : {"0", "1"}) {
      for (const char* rule : {"three_sigma_lift", "share_4"}) {
        const std::map<std::string, std::string> row = {{"layer", layer}, {"view", view}, {"rule", rule}};
        const Table& floating = table_of(tables, "floating_by_layer");
        EXPECT_EQ(number_at(floating, row, "set_size"), 1) << rule;
        // The first queries of a causal mask do not see it: the share of all queries is a little less.
        const double seeing =
            static_cast<double>(given.tokens() - kColumn) / static_cast<double>(given.tokens());
        const bool all = std::string(given.arm.attention) != "causal";
        EXPECT_NEAR(number_at(floating, row, "share"), all ? kShare : kShare * seeing, 1e-5) << rule;
      }
    }
  }
}

// Structural tokens, one in four of the prompt, get twice what even attention gives them.
TEST_P(Planted, TheLiftOfStructureComesBack) {
  MaskedAttention given = layout(GetParam());
  const auto structural = [prompt = given.prompt()](std::int64_t j) { return j < prompt && j % 4 == 3; };
  given.text = [structural](std::int64_t j) { return structural(j) ? "," : " word"; };
  given.weights = [structural](const AttentionRow& at, std::span<double> weights) {
    lift_keys({structural, {}, at.layer == 0 ? 2.0 : 0.5}, weights);
  };
  const auto tables = given.trace().analyze("structure");
  const Table& by_layer = table_of(tables, "structure_by_layer");
  for (const char* queries : {"all", "answer"}) {
    for (const char* layer : {"0", "1"}) {
      const std::map<std::string, std::string> row = {
          {"layer", layer}, {"queries", queries}, {"class", "structural"}};
      EXPECT_NEAR(number_at(by_layer, row, "lift"), layer[0] == '0' ? 2 : 0.5, 1e-4) << queries;
    }
  }
}

// The gold document gets three times what even attention gives it, the others exactly that; padding rows look
// elsewhere, and must not count.
TEST_P(Planted, TheLiftOfGoldComesBack) {
  MaskedAttention given = layout(GetParam());
  const auto [begin, end] = given.span_of("document 2");
  const auto documents = std::pair{given.span_of("document 1").first, given.span_of("document 3").second};
  const std::int64_t words = given.tokens() - given.padding;
  given.weights = [=, offset = given.arm.offset](const AttentionRow& at, std::span<double> weights) {
    const auto within = [](std::int64_t from, std::int64_t to) {
      return [from, to](std::int64_t j) { return from <= j && j < to; };
    };
    const bool pads = at.query + offset >= words;
    lift_keys({within(begin, end), within(documents.first, documents.second), pads ? 0.1 : 3.0}, weights);
  };
  const auto tables = given.trace().analyze("flow");
  const Table& gold = table_of(tables, "flow_gold_by_layer");
  for (const char* layer : {"0", "1"}) {
    const std::map<std::string, std::string> row = {{"gold_position", "all"}, {"layer", layer}};
    EXPECT_NEAR(number_at(gold, row, "gold_lift"), 3, 1e-4);
    EXPECT_NEAR(number_at(gold, row, "distractor_lift"), 1, 1e-4);
    EXPECT_NEAR(number_at(gold, row, "gold_over_distractors"), 3, 3e-4);
  }
  const Table& flow = table_of(tables, "flow_by_layer");
  for (const char* steps : {"mean", "last"}) {
    const std::map<std::string, std::string> row = {
        {"queries", "answer"}, {"steps", steps}, {"layer", "1"}, {"region", "gold"}};
    EXPECT_NEAR(number_at(flow, row, "lift"), 3, 1e-4) << steps;
  }
}

// The anchor takes places whose rank correlation with the step is known, by Spearman's formula: 0.29.
TEST_P(Planted, TheDriftOfAnAnchorComesBack) {
  if (!GetParam().arm.masked_diffusion) GTEST_SKIP() << "one pass has no steps";
  constexpr std::int64_t kRanks[] = {5, 2, 3, 0, 6, 1, 4, 7};
  double squares = 0;
  for (std::int64_t s = 0; s < 8; ++s) squares += static_cast<double>((kRanks[s] - s) * (kRanks[s] - s));
  const double rho = 1 - 6 * squares / (8.0 * 63);
  MaskedAttention given = layout(GetParam());
  given.steps = 8;
  given.weights = [&](const AttentionRow& at, std::span<double> weights) {
    // Layer 1 goes the other way.
    const std::int64_t rank = at.finished ? 0 : kRanks[at.layer == 0 ? at.step : 7 - at.step];
    const std::int64_t anchor = 3 + rank;
    for (size_t j = 0; j < weights.size(); ++j)
      weights[j] = static_cast<std::int64_t>(j) == anchor ? static_cast<double>(weights.size()) : 1.0;
  };
  const auto tables = given.trace().analyze("drift");
  const Table& drift = table_of(tables, "drift_by_layer");
  for (const char* view : {"head_mean", "per_head"}) {
    for (const int layer : {0, 1}) {
      const std::map<std::string, std::string> row = {{"layer", std::to_string(layer)},
                                                      {"view", view},
                                                      {"positions", "all"},
                                                      {"scalar", "spearman_step"}};
      EXPECT_NEAR(number_at(drift, row, "value"), layer == 0 ? rho : -rho, 1e-7)
          << view;  // heads: kept in single precision
    }
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& arm : kArms) {
    for (const std::int64_t tokens : {64, 256, 768}) all.push_back({arm, tokens});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Arms, Planted, ::testing::ValuesIn(cases()), [](const auto& info) {
  return std::string(info.param.arm.label) + "_" + std::to_string(info.param.tokens);
});

}  // namespace
}  // namespace buoy::testing
