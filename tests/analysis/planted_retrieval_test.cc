#include <gtest/gtest.h>

#include <cmath>

#include "analysis/synthetic_trace.h"
#include "buoy/trace/schema.h"
#include "support/written_table.h"

namespace buoy::testing {
namespace {

constexpr std::int64_t kPrompt = 60, kAnswer = 6, kTokens = kPrompt + kAnswer, kNeedle = 3;

// Who sees whom, which row writes a token, and how long the prompt is.
struct Design {
  std::string attention = "bidirectional";
  std::int64_t offset = 0, prompt = kPrompt;

  std::int64_t tokens() const { return prompt + kAnswer; }
  std::int64_t row(std::int64_t slot) const { return prompt + slot - offset; }
  // Of a row of the answer: none of them is in the prefix but the last of the prompt, which sees it all.
  std::int64_t keys(std::int64_t slot) const {
    return attention == "bidirectional" ? tokens() : row(slot) + 1;
  }
};

// Chance that a head, writing a needle token, looks at it in the needle; otherwise anywhere, evenly.
using HeadSkill = std::map<std::pair<std::int64_t, std::int64_t>, double>;

// A needle of three tokens somewhere in the prompt; the answer says it and three words more, revealed in
// random order, one a step.
SyntheticTrace plant(const ModelSize& size, const HeadSkill& skill, int samples, std::uint64_t seed,
                     const Design& design = {}) {
  const std::int64_t prompt = design.prompt, tokens = design.tokens();
  SyntheticTrace trace(size);
  Draws draws(seed);
  for (int n = 0; n < samples; ++n) {
    SyntheticTrace::Row row;
    const std::int64_t needle = 1 + draws.below(prompt - kNeedle - 1);
    for (std::int64_t j = 0; j < prompt; ++j) row.tokens.push_back(static_cast<std::int32_t>(100 + j));
    for (std::int64_t i = 0; i < kAnswer; ++i)
      row.tokens.push_back(static_cast<std::int32_t>(i < kNeedle ? 100 + needle + i : 500 + i));
    row.prompt_length = prompt;
    row.steps = kAnswer;
    auto& sample = trace.add(row);
    sample.metadata[std::string(trace::kMaskToken)] = "9";
    sample.metadata[std::string(trace::kAttention)] = design.attention;
    sample.metadata[std::string(trace::kPredictionOffset)] = std::to_string(design.offset);
    std::vector<std::int32_t> revealed(static_cast<size_t>(tokens), -1), rows;
    const std::int64_t shift = draws.below(kAnswer);
    for (std::int64_t i = 0; i < kAnswer; ++i) {
      revealed[static_cast<size_t>(prompt + i)] = static_cast<std::int32_t>((5 * i + shift) % kAnswer);
      rows.push_back(static_cast<std::int32_t>(design.row(i)));
    }
    std::vector<std::uint8_t> evidence(static_cast<size_t>(tokens), 0);
    for (std::int64_t i = 0; i < kNeedle; ++i) evidence[static_cast<size_t>(needle + i)] = 1;
    std::vector<std::int32_t> top;
    std::vector<float> mass;
    for (std::int64_t s = 0; s < kAnswer; ++s) {
      for (std::int64_t l = 0; l < size.layers; ++l) {
        for (std::int64_t r = 0; r < kAnswer; ++r) {
          for (std::int64_t h = 0; h < size.heads; ++h) {
            const auto able = skill.find({l, h});
            const bool finds = able != skill.end() && r < kNeedle && draws.flat() < able->second;
            top.push_back(static_cast<std::int32_t>(finds ? needle + r : draws.below(design.keys(r))));
            mass.push_back(static_cast<float>(
                finds ? 0.8 : 2.0 * draws.flat() * kNeedle / static_cast<double>(design.keys(r))));
          }
        }
      }
    }
    sample.arrays.push_back(trace::integer_array(trace::kRevealedAt, {tokens}, revealed));
    sample.arrays.push_back(trace::byte_array(trace::kEvidence, {tokens}, evidence));
    sample.arrays.push_back(trace::integer_array(trace::kRowPositions, {kAnswer}, rows));
    sample.arrays.push_back(
        trace::integer_array(trace::kTopKeys, {kAnswer, size.layers, kAnswer, size.heads, 1}, top));
    sample.arrays.push_back(
        trace::float_array(trace::kEvidenceMass, {kAnswer, size.layers, kAnswer, size.heads}, mass));
  }
  return trace;
}

std::map<std::string, std::string> at_head(int layer, int head) {
  return {{"layer", std::to_string(layer)}, {"head", std::to_string(head)}};
}

TEST(PlantedRetrieval, HeadsComeBackWithTheirScores) {
  // Head (1, 3) finds each needle token with 0.9, head (2, 5) with 0.3; by chance 1 key of 66 is right.
  const auto tables = plant({4, 8, 4}, {{{1, 3}, 0.9}, {{2, 5}, 0.3}}, 60, 21).analyze("retrieval");
  const Table& heads = table_of(tables, "retrieval_by_head");
  const auto number = [&](int l, int h, const char* column) {
    return number_at(heads, at_head(l, h), column);
  };
  // 180 draws: standard errors 0.022 and 0.034.
  const double strong = 0.9 + 0.1 / 66, weak = 0.3 + 0.7 / 66;
  EXPECT_NEAR(number(1, 3, "strict_set"), strong, 0.07);
  EXPECT_NEAR(number(2, 5, "strict_set"), weak, 0.1);
  EXPECT_LE(number(1, 3, "strict_set_lower"), strong);
  EXPECT_GE(number(1, 3, "strict_set_upper"), strong);
  EXPECT_DOUBLE_EQ(number(1, 3, "strict_set"), number(1, 3, "strict_added")) << "no token repeats";
  // Half of the answer tokens are needle tokens: hits 0.45 and a few by chance; mass 0.8 where it finds.
  EXPECT_NEAR(number(1, 3, "hit_rate"), 0.45 + 0.55 * 3 / 66, 0.05);
  EXPECT_NEAR(number(1, 3, "mass"), 0.45 * 0.8 + 0.55 * 3 / 66, 0.05);
  EXPECT_DOUBLE_EQ(number(1, 3, "mass_over_max"), 1);
  EXPECT_NEAR(number(1, 3, "activation"), 1, 0.03);
  EXPECT_NEAR(number(0, 0, "chance_strict_set"), 1.0 / 66, 1e-9);
  EXPECT_NEAR(number(0, 0, "chance_hit_rate"), 3.0 / 66, 1e-9);
  int found = 0;
  for (const auto& row : heads.rows)
    found += text_of(row[testing::column_named(heads, "above_chance")]) == "yes";
  EXPECT_EQ(found, 2) << "the two planted heads and no other";
  const Table& summary = table_of(tables, "retrieval_summary");
  EXPECT_EQ(number_at(summary, {{"variant", "strict_set"}, {"statistic", "heads >= 0.1"}}, "value"), 2);
  EXPECT_EQ(number_at(summary, {{"variant", "strict_set"}, {"statistic", "heads >= 0.5"}}, "value"), 1);
  EXPECT_EQ(number_at(table_of(tables, "retrieval_tests"), {{"what", "tests that pass Wu's gate"}}, "value"),
            60);
}

// The same heads under every mask, for both offsets and in longer prompts; chance is what the mask leaves.
TEST(PlantedRetrieval, ScoresDoNotDependOnMaskOffsetAndLength) {
  for (const auto& design : {Design{"bidirectional", 0, 240}, Design{"bidirectional", 1, 60},
                             Design{"causal", 0, 60}, Design{"causal", 1, 240}, Design{"prefix", 1, 60}}) {
    const auto tables = plant({4, 8, 4}, {{{2, 5}, 0.5}}, 60, 24, design).analyze("retrieval");
    const Table& heads = table_of(tables, "retrieval_by_head");
    double chance = 0;
    for (std::int64_t i = 0; i < kNeedle; ++i) chance += 1 / static_cast<double>(design.keys(i)) / kNeedle;
    // 180 draws: standard error 0.037.
    EXPECT_NEAR(number_at(heads, at_head(2, 5), "strict_set"), 0.5 + 0.5 * chance, 0.11) << design.attention;
    EXPECT_NEAR(number_at(heads, at_head(0, 0), "chance_strict_set"), chance, 1e-9) << design.attention;
    int found = 0;
    for (const auto& row : heads.rows)
      found += text_of(row[testing::column_named(heads, "above_chance")]) == "yes";
    EXPECT_EQ(found, 1) << "one head of 32, " << design.attention << design.offset;
  }
}

TEST(PlantedRetrieval, NullHeadsStayAtChance) {
  // 1,200 heads with an even arg-max. By p < 0.05 at most 5% may say so (standard error 0.6%); by
  // above_chance, one head or more of all in at most 5% of traces.
  const auto tables = plant({40, 30, 4}, {}, 24, 22).analyze("retrieval");
  const Table& heads = table_of(tables, "retrieval_by_head");
  double strict = 0, hit = 0, score = 0, mass = 0;
  for (const auto& row : heads.rows) {
    strict += number_of(row[testing::column_named(heads, "p_strict")]) < 0.05;
    hit += number_of(row[testing::column_named(heads, "p_hit")]) < 0.05;
    score += number_of(row[testing::column_named(heads, "hit_rate")]) / 1200;
    mass += number_of(row[testing::column_named(heads, "mass")]) / 1200;
    EXPECT_EQ(text_of(row[testing::column_named(heads, "above_chance")]), "no");
    EXPECT_EQ(text_of(row[testing::column_named(heads, "hit_above_chance")]), "no");
  }
  ASSERT_EQ(heads.rows.size(), 1200u);
  EXPECT_LE(strict / 1200, 0.07);
  EXPECT_LE(hit / 1200, 0.07);
  // 172,800 draws: standard error 0.0005.
  EXPECT_NEAR(score, 3.0 / 66, 0.002);
  EXPECT_NEAR(mass, 3.0 / 66, 0.002);
}

TEST(PlantedRetrieval, DepthCorrelationHasAnInterval) {
  // Skill rises with depth in every head: 0, 0.2, 0.4, 0.6.
  HeadSkill skill;
  for (std::int64_t l = 0; l < 4; ++l) {
    for (std::int64_t h = 0; h < 4; ++h) skill[{l, h}] = 0.2 * static_cast<double>(l);
  }
  const auto tables = plant({4, 4, 4}, skill, 40, 23).analyze("retrieval");
  const Table& summary = table_of(tables, "retrieval_summary");
  const std::map<std::string, std::string> where = {{"variant", "strict_set"},
                                                    {"statistic", "pearson of layer and layer mean"}};
  EXPECT_GT(number_at(summary, where, "value"), 0.98);
  EXPECT_GT(number_at(summary, where, "value_lower"), 0.95);
}

}  // namespace
}  // namespace buoy::testing
