// Outputs of heads and the drift of keys and values on the GPU: watching changes no bit, the numbers are
// those of the CPU to rounding, over steps, packed, and with a cache.

#include <gtest/gtest.h>

#include "model/cuda_run.h"
#include "model/head_states_probe.h"

namespace buoy {
namespace {

using testing::all_rows;
using testing::Bits;
using testing::CudaRun;
using testing::HeadStatesProbe;
using testing::Ids;
using testing::relative_difference;

class HeadStatesCudaRun : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    BUOY_NEEDS_GPU();
    run_ = std::make_unique<CudaRun>(GetParam());
    bound_ = 2 * run_->bound(ids(131, 6));
  }
  Ids ids(std::int64_t count, std::uint64_t seed) { return run_->cpu().random_ids(count, seed); }
  std::int64_t layers() { return run_->model().config().layers; }

  void expect_alike(const HeadStatesProbe& ours, const HeadStatesProbe& cpu, const std::string& when) {
    ASSERT_EQ(ours.seen.size(), cpu.seen.size());
    for (const auto& [address, expected] : cpu.seen) {
      const auto& found = ours.seen.at(address);
      const std::string where =
          when + ", sequence " + std::to_string(address.first) + ", layer " + std::to_string(address.second);
      EXPECT_LE(relative_difference(found.head_norm, expected.head_norm), bound_) << where;
      EXPECT_LE(relative_difference(found.key_cosine, expected.key_cosine), bound_) << where;
      EXPECT_LE(relative_difference(found.value_cosine, expected.value_cosine), bound_) << where;
    }
  }

  std::unique_ptr<CudaRun> run_;
  double bound_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Goldens, HeadStatesCudaRun,
                         ::testing::Values("llada-f32", "llama3-f32", "dream-f32"),
                         testing::golden_case_name);

TEST_P(HeadStatesCudaRun, WatchingChangesNoBit) {
  const Ids tokens = ids(200, 4);
  const Bits unwatched = run_->forward(tokens);
  HeadStatesProbe probe(layers());
  for (std::int64_t step = 0; step < 4; ++step) {
    const Ids rows = all_rows(tokens.size());
    EXPECT_EQ(run_->forward({{tokens, rows, nullptr, {0, step, 0, 0}}}, &probe), unwatched);
    EXPECT_EQ(std::ssize(probe.seen), layers());
    // The same row at every step: nothing moves, to the rounding of a sum.
    for (const auto& [address, seen] : probe.seen) {
      for (const float cosine : seen.key_cosine) EXPECT_NEAR(cosine, 1, 1e-5) << step;
      for (const float cosine : seen.value_cosine) EXPECT_NEAR(cosine, 1, 1e-5) << step;
    }
  }
}

TEST_P(HeadStatesCudaRun, LikeTheCpuOverStepsAndPacked) {
  Ids first = ids(70, 5), second = ids(131, 6);
  const Ids rows1 = all_rows(first.size()), rows2 = all_rows(second.size());
  HeadStatesProbe cpu(layers()), ours(layers());
  for (std::int64_t step = 0; step < 4; ++step) {
    first[static_cast<size_t>(10 + step)] = 3;
    second[static_cast<size_t>(100 - 7 * step)] = 5;
    const std::vector<model::SequenceInput> batch = {{first, rows1, nullptr, {0, step, 0, 0}},
                                                     {second, rows2, nullptr, {1, step, 0, 0}}};
    run_->cpu().forward(batch, &cpu);
    run_->forward(batch, &ours);
    expect_alike(ours, cpu, "step " + std::to_string(step));
  }
}

// Keys of a cache stay; those behind them were not there before.
TEST_P(HeadStatesCudaRun, LikeTheCpuWithACache) {
  if (!run_->cpu().causal()) return;
  const Ids all = ids(40, 9);
  HeadStatesProbe cpu(layers()), ours(layers());
  auto cpu_cache = run_->cpu().model().new_cache(), our_cache = run_->model().new_cache();
  std::int64_t step = 0;
  for (const auto& [begin, end] : {std::pair{0, 25}, std::pair{25, 26}, std::pair{26, 40}}) {
    const Ids part(all.begin() + begin, all.begin() + end), rows = all_rows(part.size());
    run_->cpu().forward({{part, rows, &cpu_cache, {0, step, 0, 0}}}, &cpu);
    run_->forward({{part, rows, &our_cache, {0, step, 0, 0}}}, &ours);
    expect_alike(ours, cpu, "step " + std::to_string(step));
    for (const auto& [address, seen] : ours.seen) {
      EXPECT_EQ(std::ssize(seen.key_cosine), run_->model().config().kv_heads * end);
      for (const float cosine : seen.value_cosine) EXPECT_NEAR(cosine, 1, 1e-5);
    }
    ++step;
  }
}

}  // namespace
}  // namespace buoy
