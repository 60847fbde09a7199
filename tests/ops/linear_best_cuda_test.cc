// Choices from what the head's product finds in its own sums are those from the logits it would have written.

#include <gtest/gtest.h>

#include <cmath>

#include "buoy/ops/linear/linear_cuda.h"
#include "buoy/ops/sampling/sampling_cuda.h"
#include "ops/device_array.h"
#include "ops/error_ratio.h"
#include "support/gpu.h"

namespace buoy {
namespace {

using ops::ChoiceRule;
using ops::LinearOutput;
using testing::DeviceArray;
using testing::normal_numbers;
using testing::to_bf16;

// A head with three rows that are the same: of many positions they are all three the best.
struct Head {
  static constexpr std::int64_t kRows = 300, kInputs = 128;

  explicit Head(std::int64_t tokens) : vocabulary(tokens), states(normal_numbers(41, kRows * kInputs)) {
    auto weight = normal_numbers(42, vocabulary * kInputs, 0.1);
    for (const std::int64_t same : {vocabulary / 2, vocabulary - 1}) {
      for (std::int64_t i = 0; i < kInputs; ++i) {
        auto& first = weight[static_cast<size_t>(3 * kInputs + i)];
        if (same == vocabulary / 2) first *= 4;
        weight[static_cast<size_t>(same * kInputs + i)] = first;
      }
    }
    weights = to_bf16(weight);
  }

  ops::DeviceLinearArgs args(const DeviceArray<std::uint16_t>& x, const DeviceArray<std::uint16_t>& w) const {
    return {.input = x.data(), .rows = kRows, .weight = w.data(), .inputs = kInputs, .outputs = vocabulary};
  }

  std::int64_t vocabulary;
  std::vector<float> states;
  std::vector<std::uint16_t> weights;
};

TEST(LinearBestCuda, ChoosesAsFromLogits) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  ops::DeviceLinear linear;
  linear.choose(ops::LinearChoice::kOwn);
  for (const std::int64_t vocabulary : {24, 1000, 2048}) {
    SCOPED_TRACE(vocabulary);
    if (!linear.finds_best(Head::kRows, Head::kInputs, vocabulary))
      GTEST_SKIP() << "the kernel needs a Hopper GPU";
    const Head head(vocabulary);
    const DeviceArray<std::uint16_t> x(to_bf16(head.states)), w(head.weights);
    const DeviceArray<float> logits(static_cast<size_t>(Head::kRows * vocabulary));
    auto product = head.args(x, w);
    product.output = logits.data();
    product.kind = LinearOutput::kFloat;
    linear.multiply(stream, product);

    std::vector<ChoiceRule> rules(Head::kRows);
    for (size_t row = 0; row < rules.size(); ++row) {
      if (row % 3 == 1) rules[row].forbidden = 3;
      if (row % 3 == 2) rules[row].forbidden = static_cast<std::int32_t>(vocabulary - 1);
      if (row % 2 == 1) rules[row].measure = ChoiceRule::Measure::kMargin;
      ASSERT_TRUE(ops::needs_no_logits(rules[row]));
    }
    const DeviceArray<ChoiceRule> r(rules);
    const DeviceArray<ops::RowChoice> from_logits(rules.size()), from_best(rules.size());
    const DeviceArray<std::int32_t> flag(std::vector<std::int32_t>{1000});
    ops::choose_cuda(stream,
                     {logits.data(), Head::kRows, vocabulary, r.data(), from_logits.data(), flag.data(), 2});

    const std::int64_t stretches = (vocabulary + ops::kBestStretch - 1) / ops::kBestStretch;
    const DeviceArray<ops::StretchBest> best(static_cast<size_t>(Head::kRows * stretches));
    const ops::DeviceBestOfLogits wanted{r.data(), Head::kRows, flag.data(), 2};
    product.output = best.data();
    product.kind = LinearOutput::kBest;
    product.best = &wanted;
    linear.multiply(stream, product);
    ops::choose_best_cuda(stream, {best.data(), Head::kRows, stretches, r.data(), from_best.data()});
    stream.synchronize();
    EXPECT_EQ(flag.host()[0], 1000);
    const auto expected = from_logits.host(), found = from_best.host();
    for (size_t row = 0; row < rules.size(); ++row) {
      EXPECT_EQ(found[row].token, expected[row].token) << row;
      EXPECT_NEAR(found[row].confidence, expected[row].confidence, 1e-6 * expected[row].confidence + 1e-12)
          << row;
    }
  }
}

TEST(LinearBestCuda, RaisesTheFlag) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  ops::DeviceLinear linear;
  linear.choose(ops::LinearChoice::kOwn);
  if (!linear.finds_best(Head::kRows, Head::kInputs, 1000)) GTEST_SKIP() << "the kernel needs a Hopper GPU";
  Head head(1000);
  head.states[200 * Head::kInputs] = std::numeric_limits<float>::infinity();
  const DeviceArray<std::uint16_t> x(to_bf16(head.states)), w(head.weights);
  const DeviceArray<ChoiceRule> rules(std::vector<ChoiceRule>(Head::kRows));
  const DeviceArray<ops::StretchBest> best(Head::kRows * 4);
  const DeviceArray<std::int32_t> flag(std::vector<std::int32_t>{1000});
  const ops::DeviceBestOfLogits wanted{rules.data(), Head::kRows, flag.data(), 2};
  auto product = head.args(x, w);
  product.output = best.data();
  product.kind = LinearOutput::kBest;
  product.best = &wanted;
  linear.multiply(stream, product);
  stream.synchronize();
  EXPECT_EQ(flag.host()[0], 2);
}

}  // namespace
}  // namespace buoy
