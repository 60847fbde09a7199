// Lengths of heads' vectors and their cosines with the forward before on the GPU, against the reference in
// double on the same bf16 numbers.

#include "buoy/ops/moments/head_states_cuda.h"

#include <gtest/gtest.h>

#include <cmath>

#include "buoy/ops/moments/head_states.h"
#include "ops/device_array.h"
#include "ops/error_ratio.h"
#include "support/gpu.h"

namespace buoy::ops {
namespace {

using testing::DeviceArray;
using testing::ErrorRatio;
using testing::from_bf16;
using testing::normal_numbers;
using testing::to_bf16;

struct HeadShape {
  std::int64_t rows, heads, head_dim, gap;  // numbers between rows
  std::string name() const {
    return "r" + std::to_string(rows) + "h" + std::to_string(heads) + "d" + std::to_string(head_dim) + "g" +
           std::to_string(gap);
  }
};

class HeadStatesCuda : public ::testing::TestWithParam<HeadShape> {
 protected:
  void SetUp() override { BUOY_NEEDS_GPU(); }

  // Rows with their gaps on the card, and without them as numbers.
  struct States {
    std::vector<std::uint16_t> wide;
    std::vector<float> numbers;
  };
  static States random_states(std::uint64_t seed) {
    const HeadShape shape = GetParam();
    const std::int64_t width = shape.heads * shape.head_dim;
    States out;
    out.wide = to_bf16(normal_numbers(seed, shape.rows * (width + shape.gap)));
    const auto numbers = from_bf16(out.wide);
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      const auto first = numbers.begin() + row * (width + shape.gap);
      out.numbers.insert(out.numbers.end(), first, first + width);
    }
    return out;
  }
  static float plain(const float* a, const float* b) {
    float sum = 0;
    for (std::int64_t i = 0; i < GetParam().head_dim; ++i) sum += a[i] * b[i];
    return sum;
  }
};

INSTANTIATE_TEST_SUITE_P(Shapes, HeadStatesCuda,
                         ::testing::Values(HeadShape{1, 1, 2, 0}, HeadShape{57, 3, 40, 0},
                                           HeadShape{57, 3, 40, 8}, HeadShape{33, 2, 5, 1},
                                           HeadShape{300, 8, 128, 64}),
                         testing::name_of_case<HeadShape>);

TEST_P(HeadStatesCuda, NormsAreThoseOfTheReference) {
  const auto [rows, heads, dim, gap] = GetParam();
  ErrorRatio errors;
  for (std::uint64_t seed = 1; !errors.enough(); ++seed) {
    const States states = random_states(seed);
    const DeviceArray<std::uint16_t> device(states.wide);
    const std::int64_t stride = rows + 3;
    const DeviceArray<float> norms(static_cast<size_t>(heads * stride));
    const Stream stream;
    head_norms_cuda(stream, {{device.data(), heads * dim + gap, rows, heads, dim}, norms.data(), stride});
    stream.synchronize();
    const auto found = norms.host();
    std::vector<double> exact(static_cast<size_t>(heads * rows));
    head_norms_reference({states.numbers.data(), rows, heads, dim}, exact.data());
    std::vector<float> ours, simple;
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t row = 0; row < rows; ++row) {
        const float* state = states.numbers.data() + (row * heads + h) * dim;
        ours.push_back(found[static_cast<size_t>(h * stride + row)]);
        simple.push_back(std::sqrt(plain(state, state)));
      }
    }
    errors.add(ours, simple, exact);
  }
  errors.expect_at_most_twice("norms");
}

TEST_P(HeadStatesCuda, DriftIsThatOfTheReferenceAndTakesThePlaceOfBefore) {
  const auto [rows, heads, dim, gap] = GetParam();
  ErrorRatio errors;
  for (std::uint64_t seed = 1; !errors.enough(); ++seed) {
    const States states = random_states(2 * seed);
    auto before = to_bf16(normal_numbers(2 * seed + 1, rows * heads * dim));
    const DeviceArray<std::uint16_t> device(states.wide), room(before);
    const DeviceArray<float> cosines(static_cast<size_t>(heads * rows));
    const std::int64_t known = rows > 2 ? rows - 2 : rows;
    const Stream stream;
    head_drift_cuda(
        stream,
        {{device.data(), heads * dim + gap, rows, heads, dim}, room.data(), known, cosines.data(), rows});
    stream.synchronize();
    EXPECT_EQ(room.host(), to_bf16(states.numbers));
    auto there = from_bf16(before);
    std::vector<double> exact(static_cast<size_t>(heads * rows));
    head_drift_reference({{states.numbers.data(), rows, heads, dim}, there.data(), known, nullptr},
                         exact.data());
    std::vector<float> simple;
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t row = 0; row < rows; ++row) {
        const float *a = states.numbers.data() + (row * heads + h) * dim,
                    *b = there.data() + (row * heads + h) * dim;
        simple.push_back(row < known ? plain(a, b) / std::sqrt(plain(a, a)) / std::sqrt(plain(b, b)) : 1.0f);
      }
    }
    errors.add(cosines.host(), simple, exact);
  }
  errors.expect_at_most_twice("drift");
}

TEST(HeadStatesCudaPlanted, AnglesComeBack) {
  BUOY_NEEDS_GPU();
  const std::vector<float> now = {3, 4, 0, 2, -1, 0, 0, 0, 1, 1}, before = {6, 8, 5, 0, 2, 0, 1, 1, 0, 0};
  const DeviceArray<std::uint16_t> device(to_bf16(now)), room(to_bf16(before));
  const DeviceArray<float> cosines(5);
  const Stream stream;
  head_drift_cuda(stream, {{device.data(), 2, 5, 1, 2}, room.data(), 4, cosines.data(), 5});
  stream.synchronize();
  EXPECT_EQ(cosines.host(), (std::vector<float>{1, 0, -1, 0, 1}));
}

}  // namespace
}  // namespace buoy::ops
