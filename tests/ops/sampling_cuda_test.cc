// Choices made on the GPU are those of ops/sampling.h on the CPU, for every way of choosing.

#include <gtest/gtest.h>

#include <cmath>

#include "buoy/ops/sampling/sampling.h"
#include "buoy/ops/sampling/sampling_cuda.h"
#include "ops/device_array.h"
#include "ops/error_ratio.h"
#include "support/gpu.h"

namespace buoy {
namespace {

using ops::ChoiceRule;
using testing::DeviceArray;

constexpr double kDropped = -std::numeric_limits<double>::infinity();

ops::RowChoice on_the_cpu(std::span<const float> logits, const ChoiceRule& rule) {
  std::vector<double> row(logits.begin(), logits.end());
  for (double& logit : row) logit /= rule.temperature;
  if (rule.forbidden != ChoiceRule::kNone) row[static_cast<size_t>(rule.forbidden)] = kDropped;
  std::vector<double> scores = row;
  if (rule.draw == ChoiceRule::Draw::kNoisyLargest) {
    for (size_t id = 0; id < row.size(); ++id) {
      DrawAddress address = rule.address;
      address.index = static_cast<std::uint32_t>(id);
      scores[id] += rule.noise * gumbel(uniform(rule.seed, address));
    }
  }
  for (const auto id : rule.unmeasured) {
    if (id != ChoiceRule::kNone) row[static_cast<size_t>(id)] = kDropped;
  }
  auto p = ops::softmax(row);
  const size_t token = rule.draw == ChoiceRule::Draw::kProportional
                           ? ops::categorical(p, uniform(rule.seed, rule.address))
                           : ops::argmax(std::span<const double>(scores));
  double confidence = p[token];
  if (rule.measure == ChoiceRule::Measure::kNegativeEntropy) {
    confidence = 0;
    for (const double value : p) confidence += value * std::log(value + 1e-10);
  } else if (rule.measure == ChoiceRule::Measure::kMargin) {
    std::partial_sort(p.begin(), p.begin() + 2, p.end(), std::greater<>());
    confidence = p[0] - p[1];
  }
  return {confidence, static_cast<std::int32_t>(token)};
}

std::vector<ChoiceRule> rules() {
  std::vector<ChoiceRule> all;
  for (const auto draw :
       {ChoiceRule::Draw::kLargest, ChoiceRule::Draw::kNoisyLargest, ChoiceRule::Draw::kProportional}) {
    for (const auto measure : {ChoiceRule::Measure::kProbability, ChoiceRule::Measure::kMargin,
                               ChoiceRule::Measure::kNegativeEntropy}) {
      ChoiceRule rule;
      rule.draw = draw;
      rule.measure = measure;
      rule.temperature = draw == ChoiceRule::Draw::kProportional ? 0.7 : 1;
      rule.noise = 0.5;
      rule.seed = 99 + all.size();
      rule.address = {DrawStream::kTokenDraw, 3, static_cast<std::uint32_t>(all.size()), 0};
      all.push_back(rule);
      rule.forbidden = 4;
      if (draw != ChoiceRule::Draw::kProportional) rule.unmeasured[0] = 7;
      all.push_back(rule);
    }
  }
  return all;
}

struct Chosen {
  std::vector<ops::RowChoice> rows;
  std::int32_t flag;  // kNothing, or kLowered by a logit that is not finite
};
constexpr std::int32_t kNothing = 1000, kLowered = 2;

Chosen choose(const std::vector<float>& logits, const std::vector<ChoiceRule>& rules) {
  const Stream stream;
  const DeviceArray<float> l(logits);
  const DeviceArray<ChoiceRule> r(rules);
  const DeviceArray<ops::RowChoice> out(rules.size());
  const DeviceArray<std::int32_t> flag(std::vector<std::int32_t>{kNothing});
  const auto rows = std::ssize(rules);
  ops::choose_cuda(stream,
                   {l.data(), rows, std::ssize(logits) / rows, r.data(), out.data(), flag.data(), kLowered});
  stream.synchronize();
  return {out.host(), flag.host()[0]};
}

void expect_as_on_the_cpu(const std::vector<float>& logits, const std::vector<ChoiceRule>& rules) {
  const auto [chosen, flag] = choose(logits, rules);
  EXPECT_EQ(flag, kNothing);
  const size_t vocabulary = logits.size() / rules.size();
  for (size_t i = 0; i < rules.size(); ++i) {
    const auto expected = on_the_cpu(std::span(logits).subspan(i * vocabulary, vocabulary), rules[i]);
    EXPECT_EQ(chosen[i].token, expected.token) << "rule " << i << " of " << vocabulary;
    // At temperature 1 without noise exponentials are float's, elsewhere double's.
    const bool plain = rules[i].temperature == 1 && rules[i].draw == ChoiceRule::Draw::kLargest;
    EXPECT_NEAR(chosen[i].confidence, expected.confidence,
                (plain ? 4e-7 : 1e-11) * std::abs(expected.confidence) + 1e-15)
        << "rule " << i << " of " << vocabulary;
  }
}

TEST(ChooseCuda, LikeTheCpu) {
  BUOY_NEEDS_GPU();
  for (const std::int64_t vocabulary : {9, 1000, 126464}) {
    const auto wanted = rules();
    auto logits = testing::normal_numbers(31, std::ssize(wanted) * vocabulary, 2.0);
    logits[3] = logits[5] = 50;  // a tie
    expect_as_on_the_cpu(logits, wanted);
  }
}

// Few rows are divided between blocks, many are not.
TEST(ChooseCuda, TheBestWhereverItLies) {
  BUOY_NEEDS_GPU();
  for (const std::int64_t vocabulary : {2, 3, 37, 1000, 1003, 20486, 151936}) {
    const auto size = static_cast<size_t>(vocabulary);
    const std::vector<std::vector<size_t>> places = {
        {},         {0},           {size - 1},    {size / 2},
        {size / 8}, {0, size - 1}, {1, size / 2}, {size / 3, size / 2, size - 1}};
    for (const size_t rows : {size_t{1}, size_t{24}, size_t{65}}) {
      if (rows == 65 && vocabulary > 2000) continue;  // slow on the CPU
      SCOPED_TRACE(rows);
      auto logits = testing::normal_numbers(51, static_cast<std::int64_t>(rows) * vocabulary, 2.0);
      std::vector<ChoiceRule> wanted(rows);
      for (size_t row = 0; row < rows; ++row) {
        const auto& here = places[(row + 5) % places.size()];
        for (const size_t place : here) logits[row * size + place] = 20;
        if (row % 2 == 1) wanted[row].measure = ChoiceRule::Measure::kMargin;
        if (row % 3 == 2 && !here.empty()) wanted[row].forbidden = static_cast<std::int32_t>(here.front());
        ASSERT_TRUE(ops::needs_no_logits(wanted[row]));
      }
      expect_as_on_the_cpu(logits, wanted);
    }
  }
}

// A row has the same bits alone as among others.
TEST(ChooseCuda, RowsAlone) {
  BUOY_NEEDS_GPU();
  constexpr size_t kRows = 64, kVocabulary = 5003;
  const auto logits = testing::normal_numbers(61, kRows * kVocabulary, 2.0);
  const auto all = choose(logits, std::vector<ChoiceRule>(kRows));
  for (const size_t row : {size_t{0}, size_t{31}, size_t{63}}) {
    const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(row * kVocabulary);
    const auto alone = choose({begin, begin + kVocabulary}, {ChoiceRule{}});
    EXPECT_EQ(alone.rows[0].token, all.rows[row].token);
    EXPECT_EQ(alone.rows[0].confidence, all.rows[row].confidence);
  }
}

TEST(ChooseCuda, LowersTheFlag) {
  BUOY_NEEDS_GPU();
  constexpr auto kInfinity = std::numeric_limits<float>::infinity();
  for (const size_t vocabulary : {size_t{4}, size_t{1000}, size_t{1003}}) {
    for (const size_t place : {size_t{0}, vocabulary / 2, vocabulary - 1}) {
      for (const float bad : {std::nanf(""), kInfinity, -kInfinity}) {
        SCOPED_TRACE(std::to_string(bad) + " at " + std::to_string(place));
        for (const std::int32_t forbidden : {ChoiceRule::kNone, static_cast<std::int32_t>(place)}) {
          std::vector<float> logits(2 * vocabulary, 1.0f);
          logits[1] = logits[vocabulary + 1] = 3;
          logits[vocabulary + place] = bad;
          ChoiceRule rule;
          rule.forbidden = forbidden;
          const auto [rows, flag] = choose(logits, {{}, rule});
          EXPECT_EQ(flag, kLowered);
          EXPECT_EQ(rows[0].token, 1);
          EXPECT_EQ(rows[1].token, bad == kInfinity && forbidden < 0 ? static_cast<std::int32_t>(place) : 1);
        }
      }
    }
  }
}

TEST(ChooseCuda, OneNumberAmongInfinities) {
  BUOY_NEEDS_GPU();
  for (const size_t vocabulary : {size_t{4}, size_t{1000}, size_t{1003}}) {
    for (const size_t place : {size_t{0}, vocabulary / 2, vocabulary - 1}) {
      for (const auto measure : {ChoiceRule::Measure::kProbability, ChoiceRule::Measure::kMargin}) {
        std::vector<float> logits(vocabulary, -std::numeric_limits<float>::infinity());
        logits[place] = -3;
        ChoiceRule rule;
        rule.measure = measure;
        const auto [rows, flag] = choose(logits, {rule});
        EXPECT_EQ(flag, kLowered);
        EXPECT_EQ(rows[0].token, static_cast<std::int32_t>(place));
        EXPECT_EQ(rows[0].confidence, 1);
      }
    }
  }
}

TEST(ChooseCuda, ARowOfNansStaysWithinTheVocabulary) {
  BUOY_NEEDS_GPU();
  for (const size_t vocabulary : {size_t{4}, size_t{1003}}) {
    const auto [rows, flag] = choose(std::vector<float>(vocabulary, std::nanf("")), {ChoiceRule{}});
    EXPECT_EQ(flag, kLowered);
    EXPECT_EQ(rows[0].token, 0);
    EXPECT_TRUE(std::isnan(rows[0].confidence));
  }
}

}  // namespace
}  // namespace buoy
