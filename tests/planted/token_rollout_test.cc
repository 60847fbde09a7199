// Rollouts between tokens against products of whole matrices, by the definition of docs/measurements.md 12:
// under every mask, for both offsets of predictions, with and without padding.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "analysis/synthetic_trace.h"
#include "buoy/trace/schema.h"

namespace buoy::testing {
namespace {

using Square = std::vector<std::vector<double>>;  // [query, key]

constexpr std::int64_t kPrompt = 14, kTokens = 24, kLayers = 3, kSamples = 2;
constexpr std::int32_t kMaskId = 99;

struct RolloutCase {
  const char* label;
  std::string attention;
  bool masked_diffusion;
  std::int64_t offset, padding;
  std::int64_t block = 1, origin = 0;          // of the finished row
  std::int64_t denoised = 0, denoised_at = 0;  // where blocks are denoised by another mask

  bool blocks() const { return attention == trace::kBlocksAttention; }
  bool sees(std::int64_t query, std::int64_t key) const {
    if (attention == trace::kBidirectionalAttention || key <= query) return true;
    if (attention == trace::kPrefixAttention) return key < kPrompt;
    return blocks() && block_of(key) <= block_of(query);
  }
  // Of an answer that ends at once, the first.
  std::vector<std::int64_t> rows_that_write() const {
    std::vector<std::int64_t> rows;
    for (std::int64_t p = kPrompt; p < std::max(kPrompt + 1, kTokens - padding); ++p)
      rows.push_back(p - offset);
    return rows;
  }

 private:
  std::int64_t block_of(std::int64_t position) const { return (position - origin + 64 * block) / block; }
};

// `random`: false: what is seen is attended to evenly.
Square attention_of(const RolloutCase& given, bool random, std::uint64_t seed) {
  Draws draws(seed);
  Square rows(kTokens, std::vector<double>(kTokens, 0.0));
  for (std::int64_t i = 0; i < kTokens; ++i) {
    auto& row = rows[static_cast<size_t>(i)];
    double sum = 0;
    for (std::int64_t j = 0; j < kTokens; ++j) {
      const double weight = random ? std::pow(draws.flat(), 3.0) + 1e-6 : 1;
      if (given.sees(i, j)) sum += row[static_cast<size_t>(j)] = weight;
    }
    for (double& weight : row) weight /= sum;
  }
  return rows;
}

// Half stays, half goes where the row says: down from the last layer, all rows at once.
Square rolled_down(const Square& above, const Square& attention) {
  Square out = above;
  for (size_t from = 0; from < out.size(); ++from) {
    for (size_t to = 0; to < out.size(); ++to) {
      double arrives = 0;
      for (size_t by = 0; by < out.size(); ++by)
        arrives += above[from][by] * ((by == to ? 1 : 0) + attention[by][to]) / 2;
      out[from][to] = arrives;
    }
  }
  return out;
}

// What arrives at each token in each layer, [layers][tokens].
Square arriving(const RolloutCase& given, const std::vector<Square>& layers) {
  Square product(kTokens, std::vector<double>(kTokens, 0.0)), out(kLayers);
  for (size_t i = 0; i < kTokens; ++i) product[i][i] = 1;
  const auto rows = given.rows_that_write();
  for (auto l = static_cast<size_t>(kLayers); l-- > 0;) {
    product = rolled_down(product, layers[l]);
    out[l].assign(kTokens, 0.0);
    for (const auto row : rows) {
      for (size_t j = 0; j < kTokens; ++j)
        out[l][j] += product[static_cast<size_t>(row)][j] / static_cast<double>(rows.size());
    }
  }
  return out;
}

bool is_gold(std::int64_t position) {
  return 5 <= position && position < 9;
}
bool is_evidence(std::int64_t position) {
  return position == 6 || position == 7;
}

double measured(const std::string& quantity, const std::vector<double>& at) {
  double sum = 0, entropy = 0;
  for (std::int64_t j = 0; j < kTokens; ++j) {
    const double share = at[static_cast<size_t>(j)];
    const bool counts = quantity == "first"    ? j == 0
                        : quantity == "prompt" ? j < kPrompt
                        : quantity == "gold"   ? is_gold(j)
                                               : is_evidence(j);
    sum += counts ? share : 0;
    entropy -= share > 0 ? share * std::log(share) : 0;
  }
  return quantity == "reached" ? std::exp(entropy) : sum;
}

class TokenRollout : public ::testing::TestWithParam<RolloutCase> {
 protected:
  TokenRollout() {
    if (given_.blocks()) trace_.of_blocks();
    for (std::int64_t n = 0; n < kSamples; ++n) add(n);
  }

  // Matrices of an earlier step are there too, and are none of the rollout's business.
  void add(std::int64_t number) {
    const std::int64_t steps = given_.masked_diffusion ? 2 : 1;
    SyntheticTrace::Row row;
    row.prompt_length = kPrompt;
    row.steps = steps;
    for (std::int64_t i = 0; i < kTokens; ++i) row.tokens.push_back(static_cast<std::int32_t>(100 + i));
    trace::Sample& sample = trace_.add(row);
    put_texts(sample);
    std::vector<std::uint8_t> evidence, ends, regions;
    for (std::int64_t i = 0; i < kTokens; ++i) {
      evidence.push_back(is_evidence(i) ? 1 : 0);
      ends.push_back(i >= kTokens - given_.padding ? 1 : 0);
      regions.push_back(is_gold(i) ? 1 : i < kPrompt ? 0 : 2);
    }
    const auto put = [&](trace::Array array) { sample.arrays.push_back(std::move(array)); };
    put(trace::byte_array(trace::kEvidence, {kTokens}, evidence));
    put(trace::byte_array(trace::kEnds, {kTokens}, ends));
    put(trace::byte_array(trace::kRegionOfToken, {kTokens}, regions));
    put(trace::integer_array(trace::kGroupSizes, {steps, 1},
                             std::vector<std::int32_t>(static_cast<size_t>(steps), kTokens)));
    if (given_.masked_diffusion) put_states(sample, row.tokens);
    auto& layers = attention_.emplace_back();
    for (std::int64_t s = 0; s < steps; ++s) {
      for (std::int64_t l = 0; l < kLayers; ++l) {
        const Square made =
            attention_of(given_, true, static_cast<std::uint64_t>((number * steps + s) * kLayers + l + 1));
        std::vector<float> flat;
        for (const auto& of_query : made) flat.insert(flat.end(), of_query.begin(), of_query.end());
        put(trace::float_array(trace::dense_mean_name(s, l), {kTokens, kTokens}, flat));
        if (s == steps - 1) layers.push_back(made);
      }
    }
  }

  void put_texts(trace::Sample& sample) const {
    const auto set = [&](std::string_view key, std::string value) {
      sample.metadata[std::string(key)] = std::move(value);
    };
    set(trace::kAttention, given_.attention);
    set(trace::kPredictionOffset, std::to_string(given_.offset));
    set(trace::kRegionNames, R"(["question", "document 1", "answer"])");
    set(trace::kGoldRegions, R"(["document 1"])");
    if (given_.masked_diffusion) {
      set(trace::kMaskToken, std::to_string(kMaskId));
      set(trace::kFinalStep, "1");
    }
    if (!given_.blocks()) return;
    set(trace::kBlockLength, std::to_string(given_.block));
    set(trace::kGridOrigin, std::to_string(given_.origin));
    if (given_.denoised == 0) return;
    set(trace::kDenoisedLength, std::to_string(given_.denoised));
    set(trace::kDenoisedOrigin, std::to_string(given_.denoised_at));
  }

  // All slots are masks at step 0 and revealed by it.
  void put_states(trace::Sample& sample, const std::vector<std::int32_t>& tokens) const {
    std::vector<std::int32_t> rows = tokens, revealed(kTokens, -1);
    std::fill(rows.begin() + kPrompt, rows.end(), kMaskId);
    std::fill(revealed.begin() + kPrompt, revealed.end(), 0);
    rows.insert(rows.end(), tokens.begin(), tokens.end());
    const auto put = [&](trace::Array array) { sample.arrays.push_back(std::move(array)); };
    put(trace::integer_array(trace::kTokensByStep, {2, kTokens}, rows));
    put(trace::integer_array(trace::kRevealedAt, {kTokens}, revealed));
    if (!given_.blocks()) return;
    const std::vector<std::uint8_t> kinds = {static_cast<std::uint8_t>(trace::StepKind::kDenoise),
                                             static_cast<std::uint8_t>(trace::StepKind::kFinalRow)};
    const std::vector<std::int32_t> ran = {kPrompt, kTokens, 0, kTokens};
    put(trace::byte_array(trace::kStepKinds, {2}, kinds));
    put(trace::integer_array(trace::kRowsRun, {2, 2}, ran));
  }

  const RolloutCase given_ = GetParam();
  SyntheticTrace trace_{{kLayers, 1, 4}};
  std::vector<std::vector<Square>> attention_;  // [samples][layers], of the final row
};

TEST_P(TokenRollout, EqualsTheProductOfTheMatrices) {
  analysis::AnalysisOptions options;
  options.sample = 1;
  const auto tables = trace_.analyze("rollout", options);
  const Square even =
      arriving(given_, std::vector<Square>(static_cast<size_t>(kLayers), attention_of(given_, false, 0)));
  std::vector<Square> made;
  for (const auto& layers : attention_) made.push_back(arriving(given_, layers));
  for (std::int64_t l = 0; l < kLayers; ++l) {
    const auto at = static_cast<size_t>(l);
    for (const char* quantity : {"first", "prompt", "gold", "evidence", "reached"}) {
      const std::map<std::string, std::string> row = {{"layer", std::to_string(l)}, {"quantity", quantity}};
      const double mean = (measured(quantity, made[0][at]) + measured(quantity, made[1][at])) / 2;
      const Table& by_layer = table_of(tables, "rollout_by_layer");
      EXPECT_NEAR(number_at(by_layer, row, "value"), mean, 2e-6) << l << quantity;
      EXPECT_NEAR(number_at(by_layer, row, "null"), measured(quantity, even[at]), 2e-6) << l << quantity;
    }
  }
  const Table& tokens = table_of(tables, "rollout_tokens");
  EXPECT_EQ(std::ssize(tokens.rows), kTokens);
  for (std::int64_t j = 0; j < kTokens; ++j) {
    const std::map<std::string, std::string> row = {{"sample", "sample-1"}, {"position", std::to_string(j)}};
    EXPECT_NEAR(number_at(tokens, row, "share"), made[1][0][static_cast<size_t>(j)], 1e-7) << j;
    EXPECT_NEAR(number_at(tokens, row, "null"), even[0][static_cast<size_t>(j)], 1e-7) << j;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Arms, TokenRollout,
    ::testing::Values(
        RolloutCase{"full", "bidirectional", true, 0, 0},
        RolloutCase{"full_padded", "bidirectional", true, 0, 4},
        RolloutCase{"full_empty", "bidirectional", true, 0, kTokens - kPrompt},
        RolloutCase{"full_next", "bidirectional", true, 1, 4}, RolloutCase{"causal", "causal", true, 0, 4},
        RolloutCase{"causal_next", "causal", false, 1, 0},
        RolloutCase{"causal_next_padded", "causal", false, 1, 4}, RolloutCase{"prefix", "prefix", true, 0, 0},
        RolloutCase{"prefix_next", "prefix", false, 1, 4}, RolloutCase{"blocks", "blocks", true, 0, 0, 4, 0},
        RolloutCase{"blocks_from_the_prompt", "blocks", true, 0, 4, 5, kPrompt},
        RolloutCase{"blocks_next", "blocks", true, 1, 4, 5, kPrompt},
        RolloutCase{"stored_causally", "blocks", true, 0, 4, 1, 0, 5, kPrompt}),
    [](const auto& info) { return std::string(info.param.label); });

}  // namespace
}  // namespace buoy::testing
