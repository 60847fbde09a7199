// Attention that is spread evenly over what the mask lets a query see has lift 1: in every table that
// measures by even attention, under every mask and objective a config may state.

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "analysis/block_attention.h"
#include "analysis/synthetic_trace.h"
#include "buoy/trace/schema.h"
#include "support/written_table.h"

namespace buoy::testing {
namespace {

struct Arm {
  const char *label, *attention;
  bool masked_diffusion;

  bool sees(std::int64_t query, std::int64_t key, std::int64_t prompt) const {
    const std::string mask = attention;
    return mask == "bidirectional" || key <= query || (mask == "prefix" && key < prompt);
  }
};

constexpr std::int32_t kMask = 99;
const std::vector<std::int64_t> kLengths = {1, 5, 7, 4, 9, 6};  // bos, query, three documents, answer
constexpr std::int64_t kAnswer = 5, kGroups = 7, kHeads = 2, kLayers = 3, kSamples = 3;

// Slots are revealed from the last to the first, two at a step: so the revealed ones see more than the
// masked.
std::int32_t revealed_at(std::int64_t slot) {
  return static_cast<std::int32_t>((kLengths[kAnswer] - 1 - slot) / 2);
}

SyntheticTrace even_trace(const Arm& arm) {
  SyntheticTrace trace({kLayers, kHeads, 4});
  for (std::int64_t n = 0; n < kSamples; ++n) {
    auto lengths = kLengths;
    lengths[2] += 3 * n;
    std::vector<std::uint8_t> regions;
    for (size_t r = 0; r < lengths.size(); ++r)
      regions.insert(regions.end(), static_cast<size_t>(lengths[r]), static_cast<std::uint8_t>(r));
    const auto T = static_cast<std::int64_t>(regions.size()), prompt = T - lengths[kAnswer];
    const std::int64_t S = arm.masked_diffusion ? 3 : 1;
    SyntheticTrace::Row row;
    row.prompt_length = prompt;
    row.steps = S;
    std::vector<std::string> texts;
    std::vector<std::uint8_t> evidence(regions.size(), 0);
    for (std::int64_t i = 0; i < T; ++i) {
      row.tokens.push_back(static_cast<std::int32_t>(1 + i));
      texts.push_back(i % 4 == 3 ? "," : " word");
      if (regions[static_cast<size_t>(i)] == 3) evidence[static_cast<size_t>(i)] = 1;
    }
    std::vector<std::int32_t> revealed(static_cast<size_t>(T), -1), rows, sizes;
    for (std::int64_t i = prompt; i < T; ++i)
      revealed[static_cast<size_t>(i)] = arm.masked_diffusion ? revealed_at(i - prompt) : 0;
    std::vector<float> received;
    for (std::int64_t s = 0; s < S; ++s) {
      std::vector<std::int32_t> size(kGroups, 0);
      std::vector<double> sums(static_cast<size_t>(kGroups * T), 0.0);
      for (std::int64_t i = 0; i < T; ++i) {
        const auto at = static_cast<size_t>(i);
        const bool masked = arm.masked_diffusion && i >= prompt && revealed[at] >= s;
        rows.push_back(masked ? kMask : row.tokens[at]);
        const std::int64_t group = regions[at] + (masked ? 1 : 0);
        ++size[static_cast<size_t>(group)];
        double keys = 0;
        for (std::int64_t j = 0; j < T; ++j) keys += arm.sees(i, j, prompt);
        for (std::int64_t j = 0; j < T; ++j)
          if (arm.sees(i, j, prompt)) sums[static_cast<size_t>(group * T + j)] += 1 / keys;
      }
      sizes.insert(sizes.end(), size.begin(), size.end());
      for (std::int64_t l = 0; l < kLayers; ++l) {
        for (std::int64_t g = 0; g < kGroups; ++g) {
          for (std::int64_t h = 0; h < kHeads; ++h)
            received.insert(received.end(), sums.begin() + g * T, sums.begin() + (g + 1) * T);
        }
      }
    }
    auto& sample = trace.add(row);
    const auto set = [&](std::string_view key, std::string value) {
      sample.metadata[std::string(key)] = std::move(value);
    };
    set(trace::kAttention, arm.attention);
    if (arm.masked_diffusion) set(trace::kMaskToken, std::to_string(kMask));
    set(trace::kRegionNames, R"(["bos", "query", "document 1", "document 2", "document 3", "answer"])");
    set(trace::kGroupNames, R"(["bos", "query", "document 1", "document 2", "document 3", "answer, revealed",
                                "answer, masked"])");
    set(trace::kGoldRegions, R"(["document 2"])");
    set(trace::kTokenTexts, trace::format_text_list(texts));
    sample.arrays.push_back(trace::byte_array(trace::kRegionOfToken, {T}, regions));
    sample.arrays.push_back(trace::byte_array(trace::kEvidence, {T}, evidence));
    sample.arrays.push_back(trace::integer_array(trace::kTokensByStep, {S, T}, rows));
    sample.arrays.push_back(trace::integer_array(trace::kRevealedAt, {T}, revealed));
    sample.arrays.push_back(trace::integer_array(trace::kGroupSizes, {S, kGroups}, sizes));
    sample.arrays.push_back(trace::float_array(trace::kReceived, {S, kLayers, kGroups, kHeads, T}, received));
  }
  return trace;
}

// Columns that say how many times even attention something gets.
std::set<std::string> lifts_of(const std::string& table) {
  std::set<std::string> names;
  for (const auto* schema : schema::all_tables()) {
    if (schema->name() != table) continue;
    for (const auto* column : schema->columns()) {
      const std::string name(column->name());
      const bool even = column->unit() == "times even attention" || name == "ratio_over_uniform";
      // Errors and differences of lifts are not lifts.
      if (even && !name.ends_with("_error") && name.find("excess") == std::string::npos) names.insert(name);
    }
  }
  return names;
}

// Calls check(value, what) for every number in these columns of a table.
template <typename Check>
void for_each_number(const Table& table, const std::set<std::string>& names, const Check& check) {
  for (size_t c = 0; c < table.columns.size(); ++c) {
    if (!names.contains(table.columns[c].name)) continue;
    for (const auto& row : table.rows) {
      const double value = number_of(row[c]);
      if (std::isnan(value)) continue;
      std::string where;
      for (const auto& cell : row) where += text_of(cell) + " ";
      check(value, table.name + ": " + table.columns[c].name + " of " + where);
    }
  }
}

void expect_lift_one(const SyntheticTrace& trace) {
  for (const auto& [analysis, least] : std::vector<std::pair<std::string, int>>{
           {"absorption", 30}, {"structure", 60}, {"flow", 100}, {"tasks", 3}}) {
    int checked = 0;
    for (const Table& table : trace.analyze(analysis)) {
      for_each_number(table, lifts_of(table.name), [&](double lift, const std::string& what) {
        EXPECT_NEAR(lift, 1, 1e-6) << what;
        ++checked;
      });
    }
    EXPECT_GE(checked, least) << analysis;
  }
}

class EvenAttention : public ::testing::TestWithParam<Arm> {};

TEST_P(EvenAttention, HasLiftOneInEveryTable) {
  expect_lift_one(even_trace(GetParam()));
}

// Blocks are denoised over the keys that there are, and finished rows may be seen in another way.
class EvenBlocks : public ::testing::TestWithParam<BlockArm> {};

TEST_P(EvenBlocks, HaveLiftOneInEveryTable) {
  expect_lift_one(block_trace(GetParam(), even_attention()));
}

TEST_P(EvenBlocks, HaveNoExcessAtAnyStep) {
  int checked = 0;
  for (const Table& table : block_trace(GetParam(), even_attention()).analyze("absorption")) {
    if (!table.name.starts_with("absorption_excess")) continue;
    for_each_number(table, {"excess"}, [&](double excess, const std::string& what) {
      EXPECT_NEAR(excess, 0, 1e-6) << what;
      ++checked;
    });
  }
  EXPECT_GE(checked, 40);
}

TEST_P(EvenBlocks, AreAsConcentratedAsTheirNull) {
  const auto tables = block_trace(GetParam(), even_attention()).analyze("floating");
  const Table& measures = table_of(tables, "floating_concentration");
  for (const auto& row : measures.rows) {
    EXPECT_NEAR(number_of(row[column_named(measures, "value")]),
                number_of(row[column_named(measures, "null")]), 1e-5)
        << text_of(row[column_named(measures, "measure")]);
  }
  EXPECT_EQ(measures.rows.size(), 4u * 2 * kBlockLayers);
  // Sets of rules whose threshold no rounding crosses.
  const Table& rules = table_of(tables, "floating_by_layer");
  for (const char* rule : {"top_1", "share_4", "share_8", "rulli_sum"}) {
    const Table of_rule = rows_where(rules, {{"rule", rule}});
    EXPECT_EQ(of_rule.rows.size(), 2u * kBlockLayers) << rule;
    for (const auto& row : of_rule.rows) {
      EXPECT_NEAR(number_of(row[column_named(rules, "set_size")]),
                  number_of(row[column_named(rules, "null_set_size")]), 1e-9)
          << rule;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Arms, EvenBlocks, ::testing::ValuesIn(block_arms()),
                         [](const auto& info) { return std::string(info.param.label); });

INSTANTIATE_TEST_SUITE_P(Arms, EvenAttention,
                         ::testing::Values(Arm{"full_masked", "bidirectional", true},
                                           Arm{"causal_masked", "causal", true},
                                           Arm{"causal_next", "causal", false},
                                           Arm{"prefix_next", "prefix", false}),
                         [](const auto& info) { return std::string(info.param.label); });

}  // namespace
}  // namespace buoy::testing
