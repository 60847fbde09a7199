// Weights summed over sets of keys on the GPU: the same sums, of every sequence of a packed batch.

#include "buoy/ops/attention/set_masses_cuda.h"

#include <gtest/gtest.h>

#include <random>

#include "buoy/ops/attention/set_masses.h"
#include "ops/device_array.h"
#include "support/gpu.h"

namespace buoy::ops {
namespace {

using testing::DeviceArray;

std::shared_ptr<const KeySets> random_sets(std::int64_t keys, int count, unsigned seed) {
  std::mt19937 random(seed);
  auto sets = std::make_shared<KeySets>();
  for (int set = 0; set < count; ++set) sets->add(keys, [&](int) { return random() % 3 == 0; });
  return sets;
}

TEST(SetMassesCuda, SumsThoseOfEverySequence) {
  BUOY_NEEDS_GPU();
  constexpr std::int64_t kHeads = 3, kGroups = 5, kStride = 200;
  const std::vector<std::int64_t> keys = {70, 131, 40}, first_columns = {0, 70, 201}, first_close = {0, 2, 2};
  constexpr std::int64_t kColumns = 241, kClose = 6;  // two rows of the first sequence, four of the third
  const std::vector<std::shared_ptr<const KeySets>> sets = {random_sets(70, 7, 1), nullptr,
                                                            random_sets(40, 3, 2)};
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  std::vector<float> rows(kClose * kHeads * kStride), received(kGroups * kHeads * kColumns);
  for (float& weight : rows) weight = uniform(random);
  for (float& weight : received) weight = uniform(random);

  const Stream stream;
  DeviceKeySets on_device;
  on_device.set({sets, first_columns, first_close, kClose}, stream);
  ASSERT_EQ(on_device.sets(), 7);
  const DeviceArray<float> device_rows(rows), device_received(received);
  const DeviceArray<float> row_masses(kClose * kHeads * 7), group_masses(3 * kGroups * kHeads * 7);
  set_masses_cuda(on_device,
                  {kHeads, device_rows.data(), kStride, kClose, row_masses.data(), device_received.data(),
                   kGroups, kColumns, group_masses.data()},
                  stream);
  stream.synchronize();
  const auto found_rows = row_masses.host(), found_groups = group_masses.host();

  const auto expect = [&](const float* weights, std::int64_t n, const float* found, const std::string& what) {
    for (std::int64_t set = 0; set < 7; ++set) {
      double sum = 0;
      if (sets[static_cast<size_t>(n)] && set < sets[static_cast<size_t>(n)]->count()) {
        for (const auto& run : sets[static_cast<size_t>(n)]->of(set)) {
          for (std::int32_t key = run.begin; key < run.end; ++key) sum += weights[key];
        }
      }
      // Both add in double, in another order: the float next to it at most.
      EXPECT_NEAR(found[set], sum, 1.2e-7 * sum) << what << ", sequence " << n << ", set " << set;
    }
  };
  for (std::int64_t row = 0; row < kClose; ++row) {
    for (std::int64_t h = 0; h < kHeads; ++h)
      expect(rows.data() + (row * kHeads + h) * kStride, row < 2 ? 0 : 2,
             found_rows.data() + (row * kHeads + h) * 7, "close row");
  }
  for (std::int64_t n = 0; n < 3; ++n) {
    for (std::int64_t g = 0; g < kGroups * kHeads; ++g)
      expect(received.data() + g * kColumns + first_columns[static_cast<size_t>(n)], n,
             found_groups.data() + (n * kGroups * kHeads + g) * 7, "group");
  }
}

}  // namespace
}  // namespace buoy::ops
