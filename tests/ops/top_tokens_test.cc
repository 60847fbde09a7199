#include "buoy/ops/sampling/top_tokens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "buoy/ops/pointwise/rows_cuda.h"
#include "buoy/ops/sampling/top_tokens_cuda.h"
#include "ops/device_array.h"
#include "ops/error_ratio.h"
#include "support/gpu.h"

namespace buoy {
namespace {

using testing::DeviceArray;
using testing::normal_numbers;

struct Expected {
  std::vector<std::int32_t> tokens;
  std::vector<double> probabilities;
};

// Sorts every row.
Expected plain(const std::vector<float>& logits, std::int64_t vocabulary, std::int64_t top) {
  Expected out;
  for (auto row = logits.begin(); row != logits.end(); row += vocabulary) {
    std::vector<std::int32_t> order(static_cast<size_t>(vocabulary));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return row[a] > row[b]; });
    double sum = 0;
    for (std::int64_t i = 0; i < vocabulary; ++i) sum += std::exp(double{row[i]});
    for (std::int64_t k = 0; k < top; ++k) {
      out.tokens.push_back(order[static_cast<size_t>(k)]);
      out.probabilities.push_back(std::exp(double{row[out.tokens.back()]}) / sum);
    }
  }
  return out;
}

// Few values, so that many are equal.
std::vector<float> logits_with_ties(std::uint64_t seed, std::int64_t count) {
  auto numbers = normal_numbers(seed, count, 3);
  for (float& number : numbers) number = std::round(number * 4) / 4;
  return numbers;
}

TEST(TopTokens, AreTheFirstOfASortedRow) {
  ThreadPool threads(2);
  for (const std::int64_t vocabulary : {1, 5, 1000}) {
    for (const std::int64_t top : {std::int64_t{1}, std::min<std::int64_t>(8, vocabulary)}) {
      const auto logits = logits_with_ties(7, 3 * vocabulary);
      std::vector<std::int32_t> tokens(static_cast<size_t>(3 * top));
      std::vector<float> probabilities(tokens.size());
      ops::top_tokens({threads}, {logits.data(), 3, vocabulary, top, tokens.data(), probabilities.data()});
      const auto expected = plain(logits, vocabulary, top);
      EXPECT_EQ(tokens, expected.tokens);
      for (size_t i = 0; i < tokens.size(); ++i)
        EXPECT_NEAR(probabilities[i], expected.probabilities[i],
                    testing::kEpsilon * expected.probabilities[i]);
    }
  }
}

TEST(TopTokensCuda, AreThoseOfTheCpu) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  for (const std::int64_t vocabulary : {1, 5, 1000, 1024, 1025, 50001, 126464, 151936, 262144}) {
    for (const std::int64_t top : {1, 5, 70}) {
      if (top > vocabulary) continue;
      const std::int64_t rows = 3;
      const auto logits = logits_with_ties(9, rows * vocabulary);
      const DeviceArray<float> in(logits), probabilities(static_cast<size_t>(rows * top));
      const DeviceArray<std::int32_t> tokens(static_cast<size_t>(rows * top));
      ops::top_tokens_cuda(stream, {in.data(), rows, vocabulary, top, tokens.data(), probabilities.data()});
      stream.synchronize();
      const auto expected = plain(logits, vocabulary, top);
      EXPECT_EQ(tokens.host(), expected.tokens) << vocabulary << ", " << top;
      const auto found = probabilities.host();
      // A thread sums up to vocabulary / 1024 exponentials, each within two units in the last place.
      const double bound = (4 + static_cast<double>(vocabulary) / 1024) * testing::kEpsilon;
      for (size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], expected.probabilities[i], bound * expected.probabilities[i]);
    }
  }
}

// One thread owns every 1024th number of a row: it gives all that are wanted, and others give none.
TEST(TopTokensCuda, OfOneThreadAlone) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  const std::int64_t vocabulary = 100000, top = 90, owner = 777;
  std::vector<float> logits(static_cast<size_t>(vocabulary), -100.0f);
  std::vector<std::int32_t> expected;
  for (std::int64_t i = 0; i < top; ++i) {
    logits[static_cast<size_t>(owner + 1024 * i)] = 9.0f - static_cast<float>(i / 2);  // in pairs of equals
    expected.push_back(static_cast<std::int32_t>(owner + 1024 * i));
  }
  const DeviceArray<float> in(logits), probabilities(static_cast<size_t>(top));
  const DeviceArray<std::int32_t> tokens(static_cast<size_t>(top));
  ops::top_tokens_cuda(stream, {in.data(), 1, vocabulary, top, tokens.data(), probabilities.data()});
  stream.synchronize();
  EXPECT_EQ(tokens.host(), expected);
}

TEST(TopTokensCuda, AllEqualAreTakenInTheOrderOfTheirIds) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  const std::int64_t vocabulary = 3000, top = 2500;
  const DeviceArray<float> in(std::vector<float>(static_cast<size_t>(vocabulary), 2.5f)),
      probabilities(static_cast<size_t>(top));
  const DeviceArray<std::int32_t> tokens(static_cast<size_t>(top));
  ops::top_tokens_cuda(stream, {in.data(), 1, vocabulary, top, tokens.data(), probabilities.data()});
  stream.synchronize();
  std::vector<std::int32_t> expected(static_cast<size_t>(top));
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(tokens.host(), expected);
}

TEST(TopTokensCuda, TellWhatIsNotFinite) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  const std::int64_t vocabulary = 2000, top = 3;
  const DeviceArray<float> probabilities(static_cast<size_t>(2 * top));
  const DeviceArray<std::int32_t> tokens(static_cast<size_t>(2 * top));
  const auto flag_after = [&](float planted) {
    auto logits = normal_numbers(3, 2 * vocabulary);
    logits[static_cast<size_t>(vocabulary + 1500)] = planted;
    const DeviceArray<float> in(logits);
    const DeviceArray<std::int32_t> flag(std::vector<std::int32_t>{99});
    ops::top_tokens_cuda(stream, {in.data(), 2, vocabulary, top, tokens.data(), probabilities.data()},
                         {flag.data(), 7});
    stream.synchronize();
    return flag.host()[0];
  };
  EXPECT_EQ(flag_after(1.0f), 99);
  EXPECT_EQ(flag_after(std::nanf("")), 7);
  EXPECT_EQ(flag_after(std::numeric_limits<float>::infinity()), 7);
}

TEST(RowsCuda, AreGatheredAndChanged) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  const std::int64_t width = 300;
  const auto states = normal_numbers(1, 6 * width), vectors = normal_numbers(2, 2 * width);
  const std::vector<std::int32_t> rows = {1, 4};
  const DeviceArray<std::int32_t> chosen(rows);
  const DeviceArray<float> values(vectors), out(static_cast<size_t>(2 * width));
  for (const bool alike : {false, true}) {
    for (const bool replace : {false, true}) {
      const DeviceArray<float> s(states);
      ops::change_rows_cuda(stream, {s.data(), chosen.data(), 2, width, values.data(), alike, replace});
      ops::gather_rows_cuda(stream, {s.data(), nullptr, chosen.data(), 2, width, out.data()});
      stream.synchronize();
      const auto found = out.host(), all = s.host();
      for (std::int64_t i = 0; i < 2 * width; ++i) {
        const float value = vectors[static_cast<size_t>(alike ? i % width : i)];
        const float before =
            states[static_cast<size_t>(rows[static_cast<size_t>(i / width)] * width + i % width)];
        ASSERT_EQ(found[static_cast<size_t>(i)], replace ? value : before + value);
      }
      for (std::int64_t i = 0; i < width; ++i)
        ASSERT_EQ(all[static_cast<size_t>(i)], states[static_cast<size_t>(i)]);
    }
  }
  const auto halves = testing::to_bf16(states);
  const DeviceArray<std::uint16_t> h(halves);
  ops::gather_rows_cuda(stream, {nullptr, h.data(), chosen.data(), 2, width, out.data()});
  stream.synchronize();
  const auto found = out.host(), wide = testing::from_bf16(halves);
  for (std::int64_t i = 0; i < width; ++i)
    ASSERT_EQ(found[static_cast<size_t>(width + i)], wide[static_cast<size_t>(4 * width + i)]);
}

}  // namespace
}  // namespace buoy
