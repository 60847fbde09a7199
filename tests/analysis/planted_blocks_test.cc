// Planted truths in runs that decode blocks: a sink has its share at every step, whatever the block; an
// anchor that goes from block to block is followed; keys behind the block are in no table.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "analysis/block_attention.h"
#include "support/written_table.h"

namespace buoy::testing {
namespace {

class PlantedBlocks : public ::testing::TestWithParam<BlockArm> {};

TEST_P(PlantedBlocks, ASinkHasItsShareAtEveryStepAndInTheFinalRow) {
  for (const double share : {0.1, 0.45}) {
    const auto tables =
        block_trace(GetParam(), sink(share, [](const BlockForward&) { return 0; })).analyze("absorption");
    const Table& excess = table_of(tables, "absorption_excess_by_layer");
    int checked = 0;
    for (const auto& row : excess.rows) {
      EXPECT_NEAR(number_of(row[column_named(excess, "excess")]), share, 1e-6)
          << text_of(row[column_named(excess, "steps")]) << " "
          << text_of(row[column_named(excess, "queries")]) << " "
          << text_of(row[column_named(excess, "selector")]);
      ++checked;
    }
    EXPECT_GE(checked, 48);
  }
}

// The first position of the block that is denoised, and the prompt's second where nothing is.
std::int64_t moving(const BlockForward& forward) {
  return forward.number >= 0 ? forward.first : 1;
}

TEST_P(PlantedBlocks, AnAnchorThatGoesFromBlockToBlockIsFollowed) {
  const BlockArm& arm = GetParam();
  const auto tables = block_trace(arm, sink(0.6, moving)).analyze("drift");
  const Table& path = table_of(tables, "drift_path");
  ASSERT_EQ(path.rows.size(), 4u * 3);  // steps and layers: what stores is none
  // Forwards that store keep their numbers: the finishing one of the first block is 3.
  const std::vector<std::pair<std::string, std::int64_t>> expected = {{"1", arm.prompt()},
                                                                      {"2", arm.prompt()},
                                                                      {"4", arm.prompt() + arm.denoised},
                                                                      {"5", arm.prompt() + arm.denoised}};
  for (const auto& [step, position] : expected) {
    for (const char* layer : {"0", "1", "2"}) {
      EXPECT_EQ(number_at(path, {{"step", step}, {"layer", layer}}, "position"), position) << step;
      // Slots of the block are revealed from the last one on; those of finished blocks lead.
      EXPECT_EQ(number_at(path, {{"step", step}, {"layer", layer}}, "frontier"), position - arm.prompt());
    }
  }
  const Table& by_layer = table_of(tables, "drift_by_layer");
  for (const char* layer : {"0", "1", "2"}) {
    EXPECT_EQ(number_at(by_layer,
                        {{"layer", layer}, {"view", "head_mean"}, {"positions", "all"}, {"scalar", "moves"}},
                        "value"),
              1);
    EXPECT_EQ(
        number_at(
            by_layer,
            {{"layer", layer}, {"view", "head_mean"}, {"positions", "all"}, {"scalar", "total_distance"}},
            "value"),
        arm.denoised);
  }
}

TEST_P(PlantedBlocks, KeysBehindTheBlockAreInNoMap) {
  const BlockArm& arm = GetParam();
  const auto tables = block_trace(arm, even_attention()).analyze("drift");
  const Table& map = table_of(tables, "drift_map");
  std::map<std::string, std::int64_t> largest;
  for (const auto& row : map.rows) {
    const auto step = text_of(row[column_named(map, "step")]);
    largest[step] =
        std::max(largest[step], static_cast<std::int64_t>(number_of(row[column_named(map, "position")])));
  }
  const std::int64_t first = arm.prompt() + arm.denoised - 1, second = first + arm.denoised;
  EXPECT_EQ(largest,
            (std::map<std::string, std::int64_t>{{"1", first}, {"2", first}, {"4", second}, {"5", second}}));
}

// Nothing is said of positions that were not there: shares of classes at a step are those of the keys.
TEST_P(PlantedBlocks, BasesOfClassesAreThoseOfTheKeysThatExist) {
  const BlockArm& arm = GetParam();
  const auto tables = block_trace(arm, sink(0.6, moving)).analyze("floating");
  const Table& composition = table_of(tables, "floating_composition");
  double masks = 0;
  for (std::int64_t b = 0; b < 2; ++b) {
    for (const double left : {1.0, 0.5})
      masks += left * static_cast<double>(arm.denoised) /
               static_cast<double>(arm.prompt() + (b + 1) * arm.denoised) / 4;
  }
  int checked = 0;
  for (const auto& row :
       rows_where(composition, {{"dimension", "type"}, {"class", "mask"}, {"rule", "top_1"}}).rows) {
    EXPECT_NEAR(number_of(row[column_named(composition, "base")]), masks, 1e-9);
    ++checked;
  }
  EXPECT_GT(checked, 0);
}

// Nine tenths for eight keys from `first` on, the rest even.
Attention eight_keys(const std::function<std::int64_t(const BlockForward& forward)>& first) {
  return [=](const BlockForward& forward, std::int64_t query) {
    auto out = even_attention()(forward, query);
    const std::int64_t begin = first(forward);
    if (begin + 8 > std::ssize(out)) return out;
    for (double& value : out) value *= 0.1;
    for (std::int64_t key = begin; key < begin + 8; ++key) out[static_cast<size_t>(key)] += 0.9 / 8;
    return out;
  };
}

double of_steps(const std::vector<Table>& tables, const char* quantity, const char* column) {
  return number_at(table_of(tables, "steps_by_layer"), {{"layer", "1"}, {"quantity", quantity}}, column);
}

// Keys there are in the blocks: those of the prompt, and of the blocks so far.
std::pair<double, double> keys_of(const BlockArm& arm) {
  return {static_cast<double>(arm.prompt() + arm.denoised),
          static_cast<double>(arm.prompt() + 2 * arm.denoised)};
}

TEST_P(PlantedBlocks, BestKeysThatStayForABlockAreRecalledWithinIt) {
  const auto [first, second] = keys_of(GetParam());
  const auto tables =
      block_trace(GetParam(), eight_keys([](const BlockForward& f) { return f.number == 1 ? 8 : 0; }))
          .analyze("steps");
  EXPECT_NEAR(of_steps(tables, "block_recall", "value"), 1, 1e-6);
  EXPECT_NEAR(of_steps(tables, "block_recalled_mass", "value"), 1, 1e-6);
  EXPECT_NEAR(of_steps(tables, "block_recall", "null"), (8 / first + 8 / second) / 2, 1e-6);
  // From the run's first step on, only the first block's second step has them.
  EXPECT_NEAR(of_steps(tables, "recall", "value"), 1.0 / 3, 1e-6);
  EXPECT_NEAR(of_steps(tables, "recall", "null"), (8 / first + 8 / second + 8 / second) / 3, 1e-6);
}

TEST_P(PlantedBlocks, BestKeysThatMoveWithinABlockAreNot) {
  const auto later = [&](const BlockForward& f) { return f.revealed % GetParam().denoised != 0; };
  const auto tables =
      block_trace(GetParam(), eight_keys([&](const BlockForward& f) { return later(f) ? 8 : 0; }))
          .analyze("steps");
  EXPECT_NEAR(of_steps(tables, "block_recall", "value"), 0, 1e-6);
  EXPECT_LT(of_steps(tables, "block_recalled_mass", "value"), 0.1);
  EXPECT_LT(of_steps(tables, "block_recalled_mass", "value"),
            of_steps(tables, "block_recalled_mass", "null"));
}

// Keys that are not there yet are none that could have been drawn. (From block to block, keys are added.)
TEST_P(PlantedBlocks, EvenAttentionIsRecalledAsOftenAsDrawnKeys) {
  const auto tables = block_trace(GetParam(), even_attention()).analyze("steps");
  for (const char* quantity : {"recall_before", "recall", "block_recall", "block_recalled_mass"})
    EXPECT_NEAR(of_steps(tables, quantity, "value"), of_steps(tables, quantity, "null"), 1e-6) << quantity;
}

// Of rows that ran and keys that exist, even attention is its own null.
TEST_P(PlantedBlocks, OfSinksAndHeadsEvenAttentionIsItsOwnNull) {
  const auto trace = block_trace(GetParam(), even_attention(), BlockStates{});
  int checked = 0;
  for (const auto* analysis : {"sinks", "heads"}) {
    const auto tables = trace.analyze(analysis);
    const Table& by_layer = table_of(tables, std::string(analysis) + "_by_layer");
    for (const auto& row : by_layer.rows) {
      const auto quantity = text_of(row[column_named(by_layer, "quantity")]);
      const Cell& null = row[column_named(by_layer, "null")];
      if (text_of(null).empty()) continue;
      // Which key is the best of equal ones says nothing of how they live.
      for (const char* life : {"stays", "moves", "dies", "lifetime", "static", "same_best"})
        if (quantity == life) continue;
      EXPECT_NEAR(number_of(row[column_named(by_layer, "value")]), number_of(null), 1e-6) << quantity;
      ++checked;
    }
  }
  EXPECT_GT(checked, 3 * 15);
  const auto heads = trace.analyze("heads");
  EXPECT_NEAR(
      number_at(table_of(heads, "heads_by_layer"), {{"layer", "1"}, {"quantity", "entropy_share"}}, "value"),
      1, 1e-6);
  const auto sinks = trace.analyze("sinks");
  const Table& by_epsilon = table_of(sinks, "sinks_by_epsilon");
  const auto [first, second] = keys_of(GetParam());
  for (const auto& row : by_epsilon.rows) {
    const double epsilon = number_of(row[column_named(by_epsilon, "epsilon")]);
    if (epsilon == 1 / first || epsilon == 1 / second) continue;  // a rounding decides
    EXPECT_NEAR(number_of(row[column_named(by_epsilon, "share")]),
                number_of(row[column_named(by_epsilon, "null")]), 1e-6)
        << epsilon;
  }
}

TEST_P(PlantedBlocks, ASinkAndItsShortValueComeBack) {
  const auto trace = block_trace(GetParam(), sink(0.45, [](const BlockForward&) { return 0; }),
                                 BlockStates{.first_value = 0.25F});
  const auto sinks = trace.analyze("sinks"), heads = trace.analyze("heads");
  const auto found = [&](const std::vector<Table>& tables, const char* table, const char* quantity,
                         const char* column) {
    return number_at(table_of(tables, table), {{"layer", "2"}, {"quantity", quantity}}, column);
  };
  const auto [first, second] = keys_of(GetParam());
  EXPECT_NEAR(found(sinks, "sinks_by_layer", "first", "null"), (1 / first + 1 / second) / 2, 1e-6);
  EXPECT_NEAR(found(sinks, "sinks_by_layer", "first", "excess"), 0.45 * (1 - (1 / first + 1 / second) / 2),
              1e-6);
  EXPECT_EQ(found(sinks, "sinks_by_layer", "first_above", "value"), 1);
  EXPECT_NEAR(found(sinks, "sinks_by_layer", "value_ratio", "value"), 0.25, 1e-6);
  EXPECT_EQ(found(sinks, "sinks_by_layer", "drain", "value"), 1);
  EXPECT_NEAR(found(sinks, "sinks_by_layer", "drain", "null"), (1 / first + 1 / second) / 2, 1e-6);
  const auto length = [](double keys) { return 0.45 * 0.25 + 0.55 * (keys - 0.75) / keys; };
  EXPECT_NEAR(found(heads, "heads_by_layer", "attended_length", "value"),
              (length(first) + length(second)) / 2, 1e-6);
}

// Only the second step of a block has one of the same tokens before it.
TEST_P(PlantedBlocks, DriftIsThatOfTheBlockBetweenItsSteps) {
  for (const float moved : {1.0F, 0.5F}) {
    const auto tables =
        block_trace(GetParam(), even_attention(), BlockStates{.moved = moved}).analyze("kvdrift");
    const Table& by_layer = table_of(tables, "kvdrift_by_layer");
    const auto found = [&](const char* quantity) {
      return number_at(by_layer, {{"layer", "0"}, {"quantity", quantity}}, "value");
    };
    for (const char* quantity : {"keys", "keys_best", "keys_masked", "keys_revealed", "values"})
      EXPECT_NEAR(found(quantity), 1 - moved, 1e-6) << quantity;
    for (const char* quantity : {"moving", "states_moving"})
      EXPECT_EQ(found(quantity), moved < 1 ? 1 : 0) << quantity;
  }
}

INSTANTIATE_TEST_SUITE_P(Arms, PlantedBlocks, ::testing::ValuesIn(block_arms()),
                         [](const auto& info) { return std::string(info.param.label); });

}  // namespace
}  // namespace buoy::testing
