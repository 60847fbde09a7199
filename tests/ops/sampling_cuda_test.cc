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

TEST(ChooseCuda, LikeTheCpu) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  for (const std::int64_t vocabulary : {9, 1000, 126464}) {
    const auto wanted = rules();
    const auto rows = static_cast<std::int64_t>(wanted.size());
    auto logits = testing::normal_numbers(31, rows * vocabulary, 2.0);
    logits[3] = logits[5] = 50;  // a tie
    const DeviceArray<float> l(logits);
    const DeviceArray<ChoiceRule> r(wanted);
    const DeviceArray<ops::RowChoice> out(wanted.size());
    const DeviceArray<std::int32_t> flag(std::vector<std::int32_t>{1000});
    ops::choose_cuda(stream, {l.data(), rows, vocabulary, r.data(), out.data(), flag.data(), 2});
    stream.synchronize();
    EXPECT_EQ(flag.host()[0], 1000);
    const auto chosen = out.host();
    for (size_t i = 0; i < wanted.size(); ++i) {
      const auto row =
          std::span(logits).subspan(i * static_cast<size_t>(vocabulary), static_cast<size_t>(vocabulary));
      const auto expected = on_the_cpu(row, wanted[i]);
      EXPECT_EQ(chosen[i].token, expected.token) << "rule " << i << " of " << vocabulary;
      // At temperature 1 without noise exponentials are float's, elsewhere double's.
      const bool plain = wanted[i].temperature == 1 && wanted[i].draw == ChoiceRule::Draw::kLargest;
      EXPECT_NEAR(chosen[i].confidence, expected.confidence,
                  (plain ? 4e-7 : 1e-11) * std::abs(expected.confidence) + 1e-15)
          << "rule " << i << " of " << vocabulary;
    }
  }
}

TEST(ChooseCuda, RaisesTheFlag) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  const DeviceArray<float> logits(std::vector<float>{1, 2, std::nanf(""), 3});
  const DeviceArray<ChoiceRule> rule(std::vector<ChoiceRule>{{}});
  const DeviceArray<ops::RowChoice> out(1);
  const DeviceArray<std::int32_t> flag(std::vector<std::int32_t>{1000});
  ops::choose_cuda(stream, {logits.data(), 1, 4, rule.data(), out.data(), flag.data(), 2});
  stream.synchronize();
  EXPECT_EQ(flag.host()[0], 2);
}

TEST(ChooseCuda, ARowOfNansStaysWithinTheVocabulary) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  const DeviceArray<float> logits(std::vector<float>(4, std::nanf("")));
  const DeviceArray<ChoiceRule> rule(std::vector<ChoiceRule>{{}});
  const DeviceArray<ops::RowChoice> out(1);
  const DeviceArray<std::int32_t> flag(std::vector<std::int32_t>{1000});
  ops::choose_cuda(stream, {logits.data(), 1, 4, rule.data(), out.data(), flag.data(), 2});
  stream.synchronize();
  EXPECT_EQ(flag.host()[0], 2);
  EXPECT_LT(out.host()[0].token, 4);
}

}  // namespace
}  // namespace buoy
