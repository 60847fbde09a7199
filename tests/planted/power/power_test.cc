// What five networks per arm and 64 questions find of effects that were put in: traces of planted networks
// are analysed, the numbers that claims rest on are taken from the tables, and 1,000 studies draw five
// networks per arm from these. Networks of a kind differ: a study shifts the numbers of each by a draw of its
// own.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>

#include "analysis/planted.h"
#include "analysis/planted_qk.h"
#include "analysis/planted_retrieval.h"
#include "buoy/base/random.h"
#include "buoy/claims/claims.h"
#include "support/written_table.h"

namespace buoy::testing {
namespace {

using claims::Finding;
using claims::NetworkQuantity;

constexpr std::int64_t kQuestions = 64;
constexpr std::uint32_t kPool = 10, kPerArm = 5, kStudies = 1000;

using Numbers = std::vector<NetworkQuantity>;  // of one network

Numbers numbers_in(const std::vector<Table>& tables, const std::string& label, bool masked_diffusion) {
  return claims::network_quantities(
      tables, std::vector<claims::TraceKind>{
                  {.label = label, .masked_diffusion = masked_diffusion, .samples = kQuestions}});
}

Numbers numbers_of(const Findings& found, bool masked_diffusion) {
  return numbers_in(found.result.analyses[0].tables, "planted", masked_diffusion);
}

const NetworkQuantity& find(const Numbers& numbers, const std::string& quantity) {
  const auto at =
      std::find_if(numbers.begin(), numbers.end(), [&](const auto& one) { return one.quantity == quantity; });
  if (at == numbers.end()) throw std::runtime_error("no quantity " + quantity);
  return *at;
}

struct Pools {
  std::vector<Numbers> diffusion, autoregressive;
};

// The standard error over questions that the intervals of a pool speak of, and the mean of its values.
struct PoolSummary {
  double mean = 0, error = 0;
};
PoolSummary summary(const std::vector<Numbers>& pool, const std::string& quantity) {
  PoolSummary out;
  for (const auto& numbers : pool) {
    const auto& e = find(numbers, quantity).estimate;
    out.mean += e.value / static_cast<double>(pool.size());
    out.error += (e.upper - e.lower) / 2 / 1.96 / static_cast<double>(pool.size());
  }
  return out;
}

double drawn(std::uint32_t study, std::uint32_t index) {
  return normal(91, {DrawStream::kWeights, 7, study, index});
}

// Five of a pool, each shifted by a draw of its own.
void draw_arm(const std::vector<Numbers>& pool, std::uint32_t study, double spread, bool masked_diffusion,
              Numbers& out) {
  std::vector<std::uint32_t> order(pool.size());
  std::iota(order.begin(), order.end(), 0U);
  const std::uint32_t first = masked_diffusion ? 0 : 1000;
  for (std::uint32_t i = 0; i < std::min<std::size_t>(kPerArm, pool.size()); ++i) {
    const double flat = uniform(92, {DrawStream::kWeights, 7, study, first + i});
    std::swap(order[i], order[i + static_cast<std::uint32_t>(flat * static_cast<double>(order.size() - i))]);
    const double shift = spread * drawn(study, first + i);
    for (auto one : pool[order[i]]) {
      one.network = {(masked_diffusion ? "d" : "a") + std::to_string(i), masked_diffusion};
      one.estimate.value += shift, one.estimate.lower += shift, one.estimate.upper += shift;
      out.push_back(std::move(one));
    }
  }
}

// The share of studies in which a quantity speaks for its claim, corrected for all quantities of the claim.
struct Asked {
  const Pools& pools;
  claims::ClaimRule claim;
  std::string quantity;
};
double power(const Asked& asked, double spread) {
  double found = 0;
  for (std::uint32_t study = 0; study < kStudies; ++study) {
    Numbers numbers;
    draw_arm(asked.pools.diffusion, study, spread, true, numbers);
    draw_arm(asked.pools.autoregressive, study, spread, false, numbers);
    for (const auto& one : claims::judge_kinds(asked.claim, numbers).quantities)
      found += one.name == asked.quantity && one.finding == Finding::kFor ? 1 : 0;
  }
  return found / kStudies;
}

// The largest spread between networks at which the power is still 0.8, to 5%; 0 where it never is.
double bearable_spread(const Asked& asked, double most) {
  double low = 0, high = most;
  while (high - low > 0.05 * high && high > 0.01 * most) {
    const double middle = (low + high) / 2;
    (power(asked, middle) >= 0.8 ? low : high) = middle;
  }
  return low;
}

// Deviations between trained networks of one recipe were 0.8 to 8.5 times the standard error of 24 questions
// (the range over the quantities of two seeds per arm, before there was a family to measure it on).
struct StatedRange {
  explicit StatedRange(double error_of_64)
      : low(0.8 * error_of_64 * std::sqrt(64.0 / 24)), high(low * 8.5 / 0.8) {}
  double low, high;
};

struct PowerFound {
  double at_low, at_high, bearable;
};
PowerFound report(const Asked& asked, const PoolSummary& planted, double most) {
  const StatedRange range(planted.error);
  const PowerFound out{power(asked, range.low), power(asked, range.high), bearable_spread(asked, most)};
  std::cout << asked.quantity << ": planted " << planted.mean << ", standard error of 64 questions "
            << planted.error << "; power " << out.at_low << " at a spread of " << range.low << ", "
            << out.at_high << " at " << range.high << "; 0.8 up to a spread of " << out.bearable << "\n";
  return out;
}

// Paths of the anchor over eight steps whose mean Spearman with the step is 0.3; layers and questions are
// independent.
TEST(Power, OfADriftWithSpearmanOf03) {
  Pools pools;
  for (std::uint32_t network = 0; network < kPool; ++network) {
    PlantedSpec spec;
    spec.samples = kQuestions;
    spec.steps = 8;
    spec.layers = 4;
    spec.heads = 1;
    spec.tokens = 40;
    spec.prompt = 32;
    spec.weights = [&](const PlantedMap& map, std::vector<double>& weights) {
      constexpr double kTrend = 0.137;
      const auto at = [&](std::int64_t step) {
        const auto place = static_cast<std::uint32_t>((map.sample * 64 + map.layer) * 64 + step);
        return kTrend * static_cast<double>(step) + normal(41 + network, {DrawStream::kWeights, 1, 0, place});
      };
      std::int64_t rank = 0;
      for (std::int64_t other = 0; other < spec.steps; ++other) rank += at(other) < at(map.step);
      std::fill(weights.begin(), weights.end(), 1.0);
      weights[static_cast<size_t>(4 + 3 * rank)] = 20;
    };
    pools.diffusion.push_back(numbers_of(analyse(spec, {"drift"}), true));
  }
  const auto quantity = claims::quantity_name(claims::rules::kStep);
  const auto planted = summary(pools.diffusion, quantity);
  EXPECT_NEAR(planted.mean, 0.3, 0.02);
  const auto found = report({pools, claims::rule_of("C1"), quantity}, planted, 0.4);
  EXPECT_GE(found.at_low, 0.8);
}

// A sink at the first token that takes 0.05 in autoregressive networks and 0.03 in the others; questions
// differ by 0.01.
TEST(Power, OfAnExcessShareOf002) {
  Pools pools;
  for (const bool masked_diffusion : {true, false}) {
    for (std::uint32_t network = 0; network < kPool; ++network) {
      PlantedSpec spec;
      spec.samples = kQuestions;
      spec.steps = 2;
      spec.layers = 2;
      spec.heads = 1;
      spec.tokens = 128;
      spec.prompt = 96;
      spec.causal = !masked_diffusion;
      spec.groups = {"prompt", "answer, revealed"};
      spec.weights = [&](const PlantedMap& map, std::vector<double>& weights) {
        const auto question = static_cast<std::uint32_t>(map.sample);
        const double noise =
            0.01 * normal(51 + network, {DrawStream::kWeights, masked_diffusion ? 1U : 0U, 0, question});
        const double sink = std::max(0.0, (masked_diffusion ? 0.03 : 0.05) + noise);
        // As if all queries saw all keys: so do those of the answer, nearly.
        for (size_t j = 0; j < weights.size(); ++j)
          weights[j] = (1 - sink) / static_cast<double>(weights.size()) + (j == 0 ? sink : 0);
      };
      (masked_diffusion ? pools.diffusion : pools.autoregressive)
          .push_back(numbers_of(analyse(spec, {"absorption"}), masked_diffusion));
    }
  }
  const std::string first(claims::rules::kExcessOfFirst);
  const auto of_causal = summary(pools.autoregressive, first), of_full = summary(pools.diffusion, first);
  const PoolSummary difference{of_causal.mean - of_full.mean, std::hypot(of_causal.error, of_full.error)};
  EXPECT_NEAR(difference.mean, 0.02, 0.001);
  // Two autoregressive seeds of one recipe absorb 4.6% and 5.4% at position 0: a deviation of 0.0057.
  constexpr double kStated = 0.0057;
  for (const auto* rule :
       {&claims::rules::kSink, &claims::rules::kFirstColumn, &claims::rules::kLargestColumn}) {
    const Asked asked{pools, claims::rule_of("C4"), std::string(rule->what)};
    report(asked, difference, 0.05);
    const double found = power(asked, kStated);
    std::cout << "  with the spread of two seeds, " << kStated << ": " << found << "\n";
    for (const double margin : {0.02, 0.01}) {  // what was tried before
      Asked other = asked;
      for (auto& quantity : other.claim.quantities) quantity.margin = margin;
      std::cout << "  with a margin of " << margin << ": " << power(other, kStated) << "\n";
    }
    EXPECT_GE(found, 0.8) << asked.quantity;
  }
}

// One head of 32 that copies every other token of the needle, in the deep third.
TEST(Power, OfOneRetrievalHeadOf32) {
  Pools pools;
  int right = 0;
  for (std::uint32_t network = 0; network < kPool; ++network) {
    const std::int64_t layer = 6 + network % 2, head = network % 4;
    const auto tables =
        plant_retrieval({8, 4, 4}, {{{layer, head}, 0.5}}, kQuestions, 61 + network).analyze("retrieval");
    const Table& heads = table_of(tables, "retrieval_by_head");
    const Table above = rows_where(heads, {{"above_chance", "yes"}});
    right += above.rows.size() == 1 &&
                     text_of(above.rows[0][column_named(above, "layer")]) == std::to_string(layer) &&
                     text_of(above.rows[0][column_named(above, "head")]) == std::to_string(head)
                 ? 1
                 : 0;
    pools.diffusion.push_back(numbers_in(tables, "synthetic", true));
  }
  EXPECT_GE(right, static_cast<int>(kPool) * 8 / 10) << "that head and no other";
  const auto quantity = claims::quantity_name(claims::rules::kRetrieval, "strict_set");
  const auto planted = summary(pools.diffusion, quantity);
  const Asked asked{pools, claims::rule_of("C6"), "Pearson of layer and retrieval score: strict_set"};
  EXPECT_GE(report(asked, planted, 0.5).at_low, 0.8);
}

// The fraction due to angle rises from 0.6 to 0.65 over depth, that due to scale falls as much.
TEST(Power, OfASlopeOf005) {
  const auto key = [](double angle) {  // cosine 0.6; see planted_qk_test.cc for the split
    return PlantedKey{(0.15 + 0.3 * angle) / (0.6 * angle - 0.15), 0.6};
  };
  Pools pools;
  for (std::uint32_t network = 0; network < kPool; ++network) {
    const auto trace = plant_qk({key(0.6), key(0.625), key(0.65)}, kQuestions, 71 + network);
    pools.diffusion.push_back(numbers_in(trace.analyze("qk"), "synthetic", true));
  }
  for (const auto* rule : {&claims::rules::kAngle, &claims::rules::kScale}) {
    const std::string quantity(rule->what);
    const auto planted = summary(pools.diffusion, quantity);
    EXPECT_NEAR(std::abs(planted.mean), 0.05, 0.01);
    const Asked asked{pools, claims::rule_of("C5"), quantity};
    EXPECT_GE(report(asked, planted, 0.1).at_low, 0.8) << quantity;
    // Two autoregressive seeds had slopes of 0.005 and -0.054: a deviation of 0.042, more than five networks
    // bear.
    constexpr double kStated = 0.042;
    std::cout << "  with the spread of two seeds, " << kStated << ": " << power(asked, kStated) << "\n";
    for (const double margin : {0.05, 0.025, 0.0}) {
      Asked other = asked;
      for (auto& one : other.claim.quantities) one.margin = margin;
      std::cout << "  with a margin of " << margin << ": " << power(other, 0.01) << " at a spread of 0.01, "
                << power(other, kStated) << " at " << kStated << "\n";
    }
  }
}

}  // namespace
}  // namespace buoy::testing
