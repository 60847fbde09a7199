// Routers by published check values and against the double reference; the products of experts against the
// reference, to the bit in any company, and blind to experts that nobody chose.

#include "buoy/ops/experts/experts.h"
#include "buoy/ops/experts/expert_tiles.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>
#include <vector>

#include "ops/linear_data.h"

namespace buoy {
namespace {

using ops::RouterKind;
using ops::RouterRule;
using testing::ErrorRatio;
using testing::normal_numbers;

struct Routed {
  std::vector<std::int32_t> experts;
  std::vector<double> weights;
  std::vector<double> entropy;
};

Routed reference(const RouterRule& rule, const std::vector<float>& logits, const std::vector<float>& bias) {
  const std::int64_t rows = std::ssize(logits) / rule.experts;
  Routed out;
  out.experts.resize(static_cast<size_t>(rows * rule.chosen));
  out.weights.resize(out.experts.size());
  out.entropy.resize(static_cast<size_t>(rows));
  const std::vector<double> z(logits.begin(), logits.end());
  for (std::int64_t row = 0; row < rows; ++row) {
    ops::route_reference(rule, z.data() + row * rule.experts, bias.empty() ? nullptr : bias.data(),
                         {out.experts.data() + row * rule.chosen, out.weights.data() + row * rule.chosen,
                          out.entropy.data() + row});
  }
  return out;
}

Routed on_cpu(const RouterRule& rule, const std::vector<float>& logits, const std::vector<float>& bias,
              int thread_count = 2) {
  const std::int64_t rows = std::ssize(logits) / rule.experts;
  std::vector<std::int32_t> experts(static_cast<size_t>(rows * rule.chosen));
  std::vector<float> weights(experts.size()), entropy(static_cast<size_t>(rows));
  ThreadPool threads(thread_count);
  ops::route({threads}, rule,
             {logits.data(),
              rows,
              bias.empty() ? nullptr : bias.data(),
              {experts.data(), weights.data(), entropy.data()}});
  return {experts, {weights.begin(), weights.end()}, {entropy.begin(), entropy.end()}};
}

using Implementation = Routed (*)(const RouterRule&, const std::vector<float>&, const std::vector<float>&);
const Implementation kBoth[] = {
    reference, [](const RouterRule& rule, const std::vector<float>& logits, const std::vector<float>& bias) {
      return on_cpu(rule, logits, bias);
    }};

void expect_near(const std::vector<double>& ours, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(ours.size(), expected.size());
  for (size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], expected[i], tolerance) << i;
}

using Experts = std::vector<std::int32_t>;

TEST(SoftmaxRouter, CheckValues) {
  for (const auto route : kBoth) {
    RouterRule rule{RouterKind::kSoftmax, 4, 2};
    const std::vector<float> logits = {1, 3, 0, 2};
    const Routed plain = route(rule, logits, {});
    EXPECT_EQ(plain.experts, (Experts{1, 3}));
    expect_near(plain.weights, {0.6439142599, 0.2368828181}, 3e-8);
    double entropy = 0;
    for (const double p : {0.0871443187, 0.6439142599, 0.0320586033, 0.2368828181})
      entropy -= p * std::log(p);
    expect_near(plain.entropy, {entropy}, 1e-7);
    rule.renormalise = true;
    expect_near(route(rule, logits, {}).weights, {0.7310585786, 0.2689414214}, 3e-8);
  }
}

TEST(SoftmaxRouter, ABiasChoosesAndStaysInTheWeight) {
  for (const auto route : kBoth) {
    const Routed routed = route({RouterKind::kSoftmax, 4, 2}, {1, 3, 0, 2}, {0.5f, 0, 0, 0});
    EXPECT_EQ(routed.experts, (Experts{1, 0}));
    expect_near(routed.weights, {0.6439142599, 0.5871443187}, 6e-8);
  }
}

TEST(SigmoidRouter, CheckValues) {
  for (const auto route : kBoth) {
    const RouterRule rule{RouterKind::kSigmoidGroups, 8, 2, false, 4, 2, 2.5};
    const Routed routed = route(rule, {2, -2, 1, 0.9f, 0.5f, 0.6f, 1.9f, -3}, {0, 0, 0, 0, 0.3f, 0.3f, 0, 0});
    EXPECT_EQ(routed.experts, (Experts{5, 4})) << "not 0, whose group is dropped";
    expect_near(routed.weights, {1.272866, 1.227134}, 1e-6);
  }
}

TEST(SigmoidRouter, OneExpertIsNotDivided) {
  for (const auto route : kBoth) {
    const Routed routed = route({RouterKind::kSigmoidGroups, 4, 1, false, 1, 1, 2.5}, {0, 1, 0, 0}, {});
    EXPECT_EQ(routed.experts, (Experts{1}));
    expect_near(routed.weights, {2.5 / (1 + std::exp(-1.0))}, 2e-7);
    expect_near(routed.entropy, {1.3711449764}, 1e-7);  // of sigmoids 1/2, 0.7310585786, 1/2, 1/2
  }
}

TEST(Routers, EqualValuesGoToTheLowerExpert) {
  for (const auto route : kBoth) {
    EXPECT_EQ(route({RouterKind::kSoftmax, 5, 3}, {0, 1, 0, 1, 0}, {}).experts, (Experts{1, 3, 0}));
    // So do groups.
    EXPECT_EQ(route({RouterKind::kSigmoidGroups, 6, 2, false, 3, 1}, {0, 0, 0, 0, 0, 0}, {}).experts,
              (Experts{0, 1}));
  }
}

std::vector<RouterRule> rules() {
  return {{RouterKind::kSoftmax, 128, 8, true},
          {RouterKind::kSoftmax, 64, 8},
          {RouterKind::kSoftmax, 8, 8, true},
          {RouterKind::kSigmoidGroups, 256, 8, false, 8, 4, 2.5},
          {RouterKind::kSigmoidGroups, 32, 4, false, 1, 1, 1},
          {RouterKind::kSigmoidGroups, 12, 3, false, 6, 3, 2.5}};
}

TEST(Routers, AgreeWithTheReference) {
  for (const RouterRule& rule : rules()) {
    for (const bool biased : {false, true}) {
      const auto logits = normal_numbers(3, 77 * rule.experts, 2);
      const auto bias = biased ? normal_numbers(4, rule.experts, 0.1) : std::vector<float>{};
      const Routed ours = on_cpu(rule, logits, bias), exact = reference(rule, logits, bias);
      EXPECT_EQ(ours.experts, exact.experts);
      expect_near(ours.weights, exact.weights, 1.5e-7 * std::max(1.0, rule.scale));
      expect_near(ours.entropy, exact.entropy, 1e-6);
      for (size_t row = 0; row < 77; ++row) {
        const auto first = ours.experts.begin() + static_cast<std::ptrdiff_t>(row) * rule.chosen;
        EXPECT_EQ(std::set(first, first + rule.chosen).size(), static_cast<size_t>(rule.chosen));
      }
    }
  }
}

TEST(RouterBits, RowsDependOnNeitherCompanyNorThreads) {
  for (const RouterRule& rule : rules()) {
    const auto logits = normal_numbers(5, 50 * rule.experts), bias = normal_numbers(6, rule.experts, 0.1);
    const Routed all = on_cpu(rule, logits, bias, 1), many = on_cpu(rule, logits, bias, 3);
    EXPECT_EQ(all.weights, many.weights);
    for (const std::int64_t row : {0, 17, 49}) {
      const Routed alone = on_cpu(
          rule, {logits.begin() + row * rule.experts, logits.begin() + (row + 1) * rule.experts}, bias);
      for (std::int64_t n = 0; n < rule.chosen; ++n) {
        EXPECT_EQ(alone.experts[static_cast<size_t>(n)],
                  all.experts[static_cast<size_t>(row * rule.chosen + n)]);
        EXPECT_EQ(alone.weights[static_cast<size_t>(n)],
                  all.weights[static_cast<size_t>(row * rule.chosen + n)]);
      }
      EXPECT_EQ(alone.entropy[0], all.entropy[static_cast<size_t>(row)]);
    }
  }
}

TEST(RowsByExpert, KeepTheirOrder) {
  const Experts routed = {2, 0, 3, 2, 2, 3};
  const auto by_expert = ops::rows_by_expert(routed, 5);
  EXPECT_EQ(by_expert.first, (std::vector<std::int64_t>{0, 1, 1, 4, 6, 6}));
  EXPECT_EQ(by_expert.pairs, (std::vector<std::int64_t>{1, 0, 3, 4, 2, 5}));
}

// Experts of a layer, each in memory of its own or all in two stacked tensors, and rows routed to them.
struct ExpertsData {
  std::int64_t rows, chosen, hidden, width, count;
  std::vector<float> input, weights;
  Experts routed;
  std::vector<std::byte> gate_up, down;
  std::vector<ops::ExpertWeights> experts;

  ExpertsData(std::int64_t rows_, std::int64_t chosen_, std::int64_t hidden_, std::int64_t width_,
              std::int64_t count_, DType dtype, std::uint64_t seed)
      : rows(rows_),
        chosen(chosen_),
        hidden(hidden_),
        width(width_),
        count(count_),
        input(normal_numbers(seed, rows * hidden)),
        gate_up(testing::stored_as(dtype, normal_numbers(seed + 1, count * 2 * width * hidden,
                                                         1 / std::sqrt(static_cast<double>(hidden))))),
        down(testing::stored_as(dtype, normal_numbers(seed + 2, count * hidden * width,
                                                      1 / std::sqrt(static_cast<double>(width))))) {
    const auto matrix = width * hidden * static_cast<std::int64_t>(size_of(dtype));
    for (std::int64_t e = 0; e < count; ++e) {
      experts.push_back({{gate_up.data() + 2 * e * matrix, dtype, {width, hidden}},
                         {gate_up.data() + (2 * e + 1) * matrix, dtype, {width, hidden}},
                         {down.data() + e * matrix, dtype, {hidden, width}}});
    }
    const RouterRule rule{RouterKind::kSoftmax, count, chosen};
    const Routed out = on_cpu(rule, normal_numbers(seed + 3, rows * count, 2), {});
    routed = out.experts;
    weights.assign(out.weights.begin(), out.weights.end());
  }
  ExpertsData(const ExpertsData&) = delete;
  ExpertsData& operator=(const ExpertsData&) = delete;

  ops::ExpertsArgs args(std::int64_t first, std::int64_t n, float* output) const {
    return {input.data() + first * hidden,   n,     experts, chosen, routed.data() + first * chosen,
            weights.data() + first * chosen, output};
  }
  std::vector<float> run(std::int64_t first, std::int64_t n, int thread_count) const {
    ThreadPool threads(thread_count);
    ops::ExpertsScratch scratch;
    std::vector<float> out(static_cast<size_t>(n * hidden), 7.0f);
    ops::experts({threads}, args(first, n, out.data()), scratch);
    return out;
  }
};

std::vector<float> plain_experts(const ExpertsData& data) {
  std::vector<float> out;
  for (std::int64_t row = 0; row < data.rows; ++row) {
    std::vector<float> sum(static_cast<size_t>(data.hidden), 0);
    for (std::int64_t n = row * data.chosen; n < (row + 1) * data.chosen; ++n) {
      const auto& expert = data.experts[static_cast<size_t>(data.routed[static_cast<size_t>(n)])];
      const auto product = [](const std::vector<float>& x, const Weight& weight) {
        std::vector<float> y, column(static_cast<size_t>(weight.columns()));
        for (std::int64_t i = 0; i < weight.rows(); ++i) {
          to_float(weight, i * weight.columns(), weight.columns(), column.data());
          y.push_back(std::inner_product(x.begin(), x.end(), column.begin(), 0.0f));
        }
        return y;
      };
      const auto* first = data.input.data() + row * data.hidden;
      const std::vector<float> x(first, first + data.hidden);
      auto gate = product(x, expert.gate);
      const auto up = product(x, expert.up);
      for (size_t i = 0; i < gate.size(); ++i) gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
      const auto y = product(gate, expert.down);
      for (size_t j = 0; j < sum.size(); ++j) sum[j] += data.weights[static_cast<size_t>(n)] * y[j];
    }
    out.insert(out.end(), sum.begin(), sum.end());
  }
  return out;
}

TEST(Experts, ErrAtMostTwiceAsMuchAsPlainLoops) {
  struct Case {
    std::int64_t rows, chosen, hidden, width, count;
    DType dtype;
  };
  for (const Case& c : {Case{1, 1, 8, 3, 1, DType::kF32}, Case{40, 3, 33, 17, 8, DType::kBF16},
                        Case{130, 8, 64, 40, 16, DType::kF16}, Case{7, 2, 1030, 65, 40, DType::kF32}}) {
    ErrorRatio errors;
    for (std::uint64_t seed = 1; !errors.enough(); seed += 10) {
      const ExpertsData data(c.rows, c.chosen, c.hidden, c.width, c.count, c.dtype, seed);
      std::vector<double> exact(static_cast<size_t>(c.rows * c.hidden));
      ops::experts_reference(data.args(0, c.rows, nullptr), exact.data());
      errors.add(data.run(0, c.rows, 2), plain_experts(data), exact);
    }
    errors.expect_at_most_twice("output");
  }
}

TEST(ExpertsBits, RowsDependOnNeitherCompanyNorThreads) {
  const ExpertsData data(300, 4, 70, 33, 16, DType::kBF16, 9);
  const auto all = data.run(0, 300, 1);
  EXPECT_EQ(data.run(0, 300, 2), all);
  EXPECT_EQ(data.run(0, 300, 3), all);
  for (const auto& [first, count] : {std::pair{0, 1}, {1, 1}, {150, 1}, {299, 1}, {3, 7}, {100, 200}}) {
    const auto some = data.run(first, count, 2);
    EXPECT_EQ(std::memcmp(some.data(), all.data() + first * 70, some.size() * sizeof(float)), 0)
        << count << " rows from " << first;
  }
}

TEST(Experts, NoRowsWriteNothing) {
  const ExpertsData data(1, 1, 8, 8, 2, DType::kF32, 1);
  ThreadPool threads(1);
  ops::ExpertsScratch scratch;
  ops::experts({threads}, data.args(0, 0, nullptr), scratch);
}

// Weights of experts that no row chose lie in pages that nobody may read.
TEST(Experts, IdleOnesAreNeverRead) {
  const std::int64_t page = sysconf(_SC_PAGESIZE), hidden = 64,
                     width = page / 64 / 4;  // a matrix is one page
  constexpr std::int64_t kCount = 16;
  const auto size = static_cast<size_t>(3 * kCount * page);
  auto* memory = static_cast<std::byte*>(
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  const auto numbers = normal_numbers(2, static_cast<std::int64_t>(size / 4), 0.1);
  std::memcpy(memory, numbers.data(), size);
  ExpertsData data(20, 2, hidden, width, kCount, DType::kF32, 3);
  for (std::int64_t e = 0; e < kCount; ++e) {
    std::byte* first = memory + 3 * e * page;
    data.experts[static_cast<size_t>(e)] = {{first, DType::kF32, {width, hidden}},
                                            {first + page, DType::kF32, {width, hidden}},
                                            {first + 2 * page, DType::kF32, {hidden, width}}};
  }
  for (size_t n = 0; n < data.routed.size(); n += 2) {  // two different even experts in every row
    data.routed[n] = static_cast<std::int32_t>(n % 4);
    data.routed[n + 1] = 8 + static_cast<std::int32_t>(n % 8);
  }
  const auto expected = data.run(0, 20, 2);
  const std::set<std::int32_t> read(data.routed.begin(), data.routed.end());
  ASSERT_LT(read.size(), static_cast<size_t>(kCount) / 2);
  for (std::int64_t e = 0; e < kCount; ++e) {
    if (read.contains(static_cast<std::int32_t>(e))) continue;
    ASSERT_EQ(mprotect(memory + 3 * e * page, static_cast<size_t>(3 * page), PROT_NONE), 0);
  }
  EXPECT_EQ(data.run(0, 20, 2), expected);
  munmap(memory, size);
}

// How pairs are cut into the parts of thread blocks, and who takes which tile.

TEST(ExpertTiles, NobodyHasNoParts) {
  EXPECT_EQ(ops::share_expert(0, 16, 1).clusters, 0);
  EXPECT_EQ(ops::share_expert(0, 152, 2).clusters, 0);
}

TEST(ExpertTiles, PartsHoldAllPairsAndNoneIsTooWide) {
  for (const int most : {16, 64, 152}) {
    for (const int cluster : {1, 2}) {
      for (int pairs = 1; pairs < 5 * most * cluster; ++pairs) {
        SCOPED_TRACE(std::to_string(pairs) + " in " + std::to_string(cluster) + " of " +
                     std::to_string(most));
        const auto share = ops::share_expert(pairs, most, cluster);
        const int blocks = share.clusters * cluster;
        ASSERT_EQ(share.width % 8, 0);
        ASSERT_LE(share.width, most);
        ASSERT_GE(blocks * share.width, pairs);
        // As few clusters as can be, and less than eight pairs for each block too wide.
        ASSERT_LT((share.clusters - 1) * cluster * most, pairs);
        ASSERT_LT((share.width - 8) * blocks, pairs);
      }
    }
  }
}

TEST(ExpertTiles, ExamplesByHand) {
  // The widest that one cluster takes, and one more.
  EXPECT_EQ(ops::share_expert(304, 152, 2).clusters, 1);
  EXPECT_EQ(ops::share_expert(304, 152, 2).width, 152);
  EXPECT_EQ(ops::share_expert(305, 152, 2).clusters, 2);
  EXPECT_EQ(ops::share_expert(305, 152, 2).width, 80);
  EXPECT_EQ(ops::share_expert(256, 152, 2).width, 128);
  EXPECT_EQ(ops::share_expert(257, 152, 2).width, 136);
  EXPECT_EQ(ops::share_expert(1, 16, 1).width, 8);
}

TEST(ExpertTiles, EveryTileIsTakenOnce) {
  for (const int clusters : {1, 2, 7, 66}) {
    for (const int tiles : {0, 1, 5, 65, 66, 67, 131, 132, 133, 500}) {
      std::vector<int> taken;
      for (int cluster = 0; cluster < clusters; ++cluster) {
        const int turns = ops::turns_of(tiles, cluster, clusters);
        for (int turn = 0; turn < turns; ++turn) taken.push_back(ops::tile_of_turn(turn, cluster, clusters));
      }
      std::sort(taken.begin(), taken.end());
      std::vector<int> all(static_cast<size_t>(tiles));
      std::iota(all.begin(), all.end(), 0);
      EXPECT_EQ(taken, all) << tiles << " tiles, " << clusters << " clusters";
    }
  }
}

TEST(ExpertTiles, TilesOfFallingSizeAreSharedEvenly) {
  constexpr int kTiles = 12 * 66, kClusters = 66;
  std::vector<int> sums;
  for (int cluster = 0; cluster < kClusters; ++cluster) {
    int sum = 0;
    for (int turn = 0; turn < ops::turns_of(kTiles, cluster, kClusters); ++turn)
      sum += kTiles - ops::tile_of_turn(turn, cluster, kClusters);
    sums.push_back(sum);
  }
  EXPECT_EQ(*std::min_element(sums.begin(), sums.end()), *std::max_element(sums.begin(), sums.end()));
}

}  // namespace
}  // namespace buoy
