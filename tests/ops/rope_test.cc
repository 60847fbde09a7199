#include "buoy/ops/pointwise/rope.h"

#include <gtest/gtest.h>

#include <cstring>

#include "ops/error_ratio.h"

namespace buoy {
namespace {

using testing::ErrorRatio;
using testing::kRoundoff;
using testing::normal_numbers;

constexpr ops::RopeScaling kLlama31{8, 1, 4, 8192};

TEST(RopeFrequencies, FollowThePublishedLlama31Table) {
  const auto plain = ops::rope_frequencies(5e5, 128, std::nullopt);
  const auto scaled = ops::rope_frequencies(5e5, 128, kLlama31);
  ASSERT_EQ(plain.size(), 64u);
  ASSERT_EQ(scaled.size(), 64u);
  struct Row {
    size_t pair;
    double plain, scaled;
  };
  const std::vector<Row> table = {
      // with more digits than published; agrees with those that are
      {29, 2.616099252925035e-3, 2.166570763503359e-3}, {30, 2.131119536911965e-3, 1.371893567761138e-3},
      {31, 1.736046702176866e-3, 8.567514129196321e-4}, {32, 1.414213562373095e-3, 5.248461609929547e-4},
      {33, 1.152042740262781e-3, 3.126937503840652e-4}, {34, 9.384738703573802e-4, 1.785078127679964e-4},
      {35, 7.644969883171747e-4, 9.556212353964683e-5}, {63, 2.455140791131609e-6, 3.068925988914511e-7}};
  for (const auto& row : table) {
    EXPECT_NEAR(plain[row.pair], row.plain, 1e-13 * row.plain) << row.pair;
    EXPECT_NEAR(scaled[row.pair], row.scaled, 1e-13 * row.scaled) << row.pair;
  }
  for (size_t j = 0; j <= 28; ++j) EXPECT_EQ(scaled[j], plain[j]) << j;
  for (size_t j = 35; j < 64; ++j) EXPECT_EQ(scaled[j], plain[j] / 8) << j;
}

TEST(RopeFrequencies, StartAtOneAndFallByAConstantFactor) {
  const auto frequencies = ops::rope_frequencies(1e4, 64, std::nullopt);
  EXPECT_EQ(frequencies[0], 1);
  for (size_t j = 0; j + 1 < frequencies.size(); ++j) {
    EXPECT_NEAR(frequencies[j + 1] / frequencies[j], std::pow(1e4, -1.0 / 32), 1e-14);
  }
}

// Rows of two heads at positions near, far and repeated.
struct Rotation {
  static constexpr std::int64_t kHeads = 2;
  std::vector<std::int32_t> positions{0, 1, 2, 7, 7, 1000, 4095, 32767, 3};
  std::int64_t head_dim;
  std::vector<double> frequencies;
  std::vector<float> states;
  ThreadPool threads{2};

  Rotation(std::int64_t dim, std::int64_t rotary_dim)
      : head_dim(dim),
        frequencies(ops::rope_frequencies(1e6, rotary_dim, std::nullopt)),
        states(normal_numbers(11, static_cast<std::int64_t>(positions.size()) * kHeads * dim)) {}

  ops::RopeArgs args(std::vector<float>& rotated) const {
    return {rotated.data(), kHeads, head_dim, positions};
  }

  std::vector<float> rotate(std::vector<float> from, double direction = 1) {
    auto signed_frequencies = frequencies;
    for (double& frequency : signed_frequencies) frequency *= direction;
    ops::RopeTable table(signed_frequencies);
    table.grow(32768);
    ops::rope({threads}, table, args(from));
    return from;
  }

  // Calls visit(head start, pair) for every rotated pair.
  template <typename Visit>
  void each_pair(const Visit& visit) const {
    for (size_t at = 0; at < states.size(); at += static_cast<size_t>(head_dim)) {
      for (size_t j = 0; j < frequencies.size(); ++j) visit(at, j);
    }
  }
};

struct RopeCase {
  std::int64_t head_dim, rotary_dim;
  std::string name() const {
    return "dim" + std::to_string(head_dim) + "_rotary" + std::to_string(rotary_dim);
  }
};

class Rope : public ::testing::TestWithParam<RopeCase> {};

// The plain loop is given cosines that are as good as a float can be; with angles in float it would be
// hundreds of times worse at position 32767.
TEST_P(Rope, ErrsAtMostTwiceAsMuchAsAPlainLoop) {
  Rotation r(GetParam().head_dim, GetParam().rotary_dim);
  std::vector<double> exact(r.states.size());
  ops::rope_reference(r.frequencies, r.args(r.states), exact.data());
  std::vector<float> plain = r.states;
  const size_t pairs = r.frequencies.size();
  r.each_pair([&](size_t at, size_t j) {
    const double angle =
        r.positions[at / static_cast<size_t>(r.head_dim * Rotation::kHeads)] * r.frequencies[j];
    const auto cosine = static_cast<float>(std::cos(angle)), sine = static_cast<float>(std::sin(angle));
    const float a = r.states[at + j], b = r.states[at + j + pairs];
    plain[at + j] = a * cosine - b * sine;
    plain[at + j + pairs] = a * sine + b * cosine;
  });
  ErrorRatio errors;
  errors.add(r.rotate(r.states), plain, exact);
  errors.expect_at_most_twice("output");
}

// With r the length of a pair: a component a c - b s comes from two rounded products of rounded table
// entries and a rounded sum, so its error is at most 3 u (|a c| + |b s|) <= 3 u r (Cauchy), and that of the
// pair at most 3 sqrt(2) u r < 4.5 u r. Two rotations in a row: twice that.
TEST_P(Rope, KeepsLengthsAndTurnsBack) {
  Rotation r(GetParam().head_dim, GetParam().rotary_dim);
  const auto there = r.rotate(r.states), back = r.rotate(there, -1);
  const size_t pairs = r.frequencies.size();
  const auto length = [&](const std::vector<float>& states, size_t at, size_t j) {
    return std::hypot(double{states[at + j]}, double{states[at + j + pairs]});
  };
  r.each_pair([&](size_t at, size_t j) {
    const double size = length(r.states, at, j);
    EXPECT_NEAR(length(there, at, j), size, 4.5 * kRoundoff * size);
    const double away = std::hypot(double{back[at + j]} - r.states[at + j],
                                   double{back[at + j + pairs]} - r.states[at + j + pairs]);
    EXPECT_LE(away, 9 * kRoundoff * size);
  });
}

TEST_P(Rope, LeavesPositionZeroAndTheUnrotatedRestAlone) {
  Rotation r(GetParam().head_dim, GetParam().rotary_dim);
  const auto rotated = r.rotate(r.states);
  const auto dim = static_cast<size_t>(r.head_dim), rotary = 2 * r.frequencies.size();
  for (size_t i = 0; i < dim * Rotation::kHeads; ++i) EXPECT_EQ(rotated[i], r.states[i]) << "position 0";
  for (size_t at = 0; at < rotated.size(); at += dim) {
    const float *ours = rotated.data() + at + rotary, *before = r.states.data() + at + rotary;
    EXPECT_EQ(std::memcmp(ours, before, (dim - rotary) * sizeof(float)), 0);
  }
  EXPECT_NE(rotated, r.states);
}

INSTANTIATE_TEST_SUITE_P(Cases, Rope,
                         ::testing::ValuesIn(std::vector<RopeCase>{{128, 128}, {80, 80}, {128, 64}, {32, 6}}),
                         testing::name_of_case<RopeCase>);

TEST(RopeTable, GrowingInPiecesEqualsGrowingAtOnce) {
  const auto frequencies = ops::rope_frequencies(1e4, 16, std::nullopt);
  ops::RopeTable pieces(frequencies), whole(frequencies);
  for (const std::int64_t positions : {1, 3, 2, 100}) pieces.grow(positions);
  whole.grow(100);
  EXPECT_EQ(std::memcmp(pieces.cosines(0), whole.cosines(0), 100 * 8 * sizeof(float)), 0);
  EXPECT_EQ(std::memcmp(pieces.sines(0), whole.sines(0), 100 * 8 * sizeof(float)), 0);
}

}  // namespace
}  // namespace buoy
