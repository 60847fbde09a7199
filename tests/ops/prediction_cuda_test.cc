// What a row of logits says, found on the GPU, is what the CPU finds.

#include "buoy/ops/sampling/prediction_cuda.h"

#include <gtest/gtest.h>

#include <cmath>

#include "buoy/ops/sampling/prediction.h"
#include "ops/device_array.h"
#include "ops/error_ratio.h"
#include "support/gpu.h"

namespace buoy {
namespace {

using testing::DeviceArray;

// Nothing but ties: the lowest ids are named, whatever thread owns them, and nothing stands out.
TEST(PredictCuda, AllEqual) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  constexpr std::int64_t kVocabulary = 151936, kTop = 40;
  const DeviceArray<float> logits(std::vector<float>(kVocabulary, -3.0f));
  const DeviceArray<std::int32_t> held(std::vector<std::int32_t>{kVocabulary - 1}), tokens(kTop);
  const DeviceArray<float> values(3), probabilities(kTop);
  ops::predict_cuda(stream, {logits.data(), 1, kVocabulary, held.data(), kTop, values.data(), tokens.data(),
                             probabilities.data()});
  stream.synchronize();
  const auto found = tokens.host();
  for (std::int32_t i = 0; i < kTop; ++i) EXPECT_EQ(found[static_cast<size_t>(i)], i);
  EXPECT_NEAR(values.host()[0], 1.0 / kVocabulary, 1e-12);
  EXPECT_NEAR(values.host()[1], std::log(static_cast<double>(kVocabulary)), 1e-5);
  EXPECT_EQ(values.host()[2], 0.0f);
}

// The margin is that of the two largest, also where one thread owns both.
TEST(PredictCuda, TheTwoLargestOfOneThread) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  constexpr std::int64_t kVocabulary = 126464;
  std::vector<float> numbers(kVocabulary, -40.0f);
  numbers[5 + 512] = 2.0f;
  numbers[5 + 3 * 512] = 1.0f;
  numbers[6] = 0.5f;
  const DeviceArray<float> logits(numbers), values(3), probabilities(size_t{1});
  const DeviceArray<std::int32_t> held(std::vector<std::int32_t>{ops::kMostProbable}), tokens(size_t{1});
  ops::predict_cuda(stream, {logits.data(), 1, kVocabulary, held.data(), 1, values.data(), tokens.data(),
                             probabilities.data()});
  stream.synchronize();
  EXPECT_EQ(tokens.host()[0], 5 + 512);
  const double sum = 1 + std::exp(-1.0) + std::exp(-1.5);
  EXPECT_NEAR(values.host()[2], (1 - std::exp(-1.0)) / sum, 1e-6);
}

TEST(PredictCuda, LikeTheCpu) {
  BUOY_NEEDS_GPU();
  const Stream stream;
  constexpr std::int64_t kRows = 7;
  for (const std::int64_t vocabulary : {1, 2, 9, 512, 513, 1000, 126464, 262144}) {
    for (const std::int64_t top : {0, 1, 5, 12}) {
      auto logits = testing::normal_numbers(31, kRows * vocabulary, 3.0);
      if (vocabulary > 5) logits[3] = logits[5] = 50;  // a tie
      std::vector<std::int32_t> held(kRows, ops::kMostProbable);
      held[2] = 0;
      held[4] = static_cast<std::int32_t>(vocabulary - 1);
      const DeviceArray<float> on_device(logits);
      const DeviceArray<std::int32_t> held_on_device(held);
      const DeviceArray<float> values(3 * kRows), probabilities(static_cast<size_t>(kRows * top));
      const DeviceArray<std::int32_t> tokens(static_cast<size_t>(kRows * top));
      ops::predict_cuda(stream, {on_device.data(), kRows, vocabulary, held_on_device.data(), top,
                                 values.data(), tokens.data(), probabilities.data()});
      stream.synchronize();
      const auto found = values.host(), shares = probabilities.host();
      const auto ids = tokens.host();
      for (std::int64_t row = 0; row < kRows; ++row) {
        const auto size = static_cast<size_t>(top), at = static_cast<size_t>(row * top);
        std::vector<std::int32_t> expected_ids(size);
        std::vector<float> expected_shares(size);
        const auto expected = ops::predict_row(
            std::span(logits).subspan(static_cast<size_t>(row * vocabulary), static_cast<size_t>(vocabulary)),
            held[static_cast<size_t>(row)], expected_ids, expected_shares);
        const auto value = [&](std::int64_t i) { return found[static_cast<size_t>(3 * row + i)]; };
        EXPECT_NEAR(value(0), expected.confidence, 1e-7) << vocabulary << " row " << row;
        EXPECT_NEAR(value(1), expected.entropy, 1e-6 * (1 + expected.entropy))
            << vocabulary << " row " << row;
        EXPECT_NEAR(value(2), expected.margin, 1e-7) << vocabulary << " row " << row;
        for (size_t i = 0; i < size; ++i) {
          EXPECT_EQ(ids[at + i], expected_ids[i]) << vocabulary << " row " << row << " token " << i;
          EXPECT_NEAR(shares[at + i], expected_shares[i], 1e-7) << vocabulary << " row " << row;
        }
      }
    }
  }
}

}  // namespace
}  // namespace buoy
