// The GPU's pass against the goldens and the CPU, for every golden checkpoint. The measure is what a plain
// bf16 implementation loses against the exact run; twice that is allowed.

#include <gtest/gtest.h>

#include "model/cuda_run.h"

namespace buoy {
namespace {

using testing::all_rows;
using testing::Bits;
using testing::CudaRun;
using testing::Golden;
using testing::Ids;
using testing::relative_difference;

class Cuda : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    BUOY_NEEDS_GPU();
    run_ = std::make_unique<CudaRun>(GetParam());
  }
  Ids ids(std::int64_t count, std::uint64_t seed) { return run_->cpu().random_ids(count, seed); }

  std::unique_ptr<CudaRun> run_;
};

TEST_P(Cuda, LogitsOfTheGoldens) {
  const Golden golden(GetParam());
  if (!golden.has("A.logits_plain16") || GetParam().ends_with("-f16"))
    GTEST_SKIP() << "no plain bf16 run stored";
  for (const std::string prompt : {"A", "B"}) {
    const Bits ours = run_->forward(golden.ids(prompt + ".ids"));
    const std::vector<double> numbers(ours.numbers.begin(), ours.numbers.end());
    const auto exact = golden.numbers(prompt + ".logits_f64");
    EXPECT_LE(testing::rms_difference(numbers, exact),
              2 * testing::rms_difference(golden.numbers(prompt + ".logits_plain16"), exact))
        << prompt;
  }
}

TEST_P(Cuda, LikeTheCpuAtManyLengths) {
  for (const std::int64_t length : {1, 5, 64, 129, 300}) {
    const Ids tokens = ids(length, static_cast<std::uint64_t>(length));
    const double difference =
        relative_difference(run_->forward(tokens).numbers, run_->cpu().forward(tokens).numbers);
    const double bound = run_->bound(tokens);
    EXPECT_LE(difference, bound) << length;
    RecordProperty("length " + std::to_string(length),
                   std::to_string(difference) + ", allowed " + std::to_string(bound));
  }
}

TEST_P(Cuda, ReplayedGraphsGiveTheSameBits) {
  const Ids first = ids(70, 1), second = ids(70, 2);
  const Bits fresh_first = run_->forward(first),
             fresh_second = run_->forward(second);  // recorded at the second
  EXPECT_EQ(run_->forward(first), fresh_first);
  EXPECT_EQ(run_->forward(second), fresh_second);
  run_->forward(ids(1500, 3));  // moves every buffer
  EXPECT_EQ(run_->forward(first), fresh_first);
}

TEST_P(Cuda, PackedAgreesWithAlone) {
  std::vector<Ids> tokens, rows;
  for (const std::int64_t length : {1, 5, 37, 300}) {
    tokens.push_back(ids(length, static_cast<std::uint64_t>(length)));
    rows.push_back(all_rows(tokens.back().size()));
  }
  std::vector<model::SequenceInput> batch;
  Bits alone;
  for (size_t n = 0; n < tokens.size(); ++n) {
    batch.push_back({tokens[n], rows[n], nullptr, {}});
    alone.append(run_->forward(tokens[n]));
  }
  EXPECT_LE(relative_difference(run_->forward(batch).numbers, alone.numbers), run_->bound(tokens[3]));
}

TEST_P(Cuda, SomeLogitRowsAreRowsOfAll) {
  const Ids tokens = ids(40, 8), wanted = {39, 0, 7, 7, 12};
  const Bits every = run_->forward(tokens), some = run_->forward({{tokens, wanted, nullptr, {}}});
  const auto width = static_cast<size_t>(run_->model().config().vocabulary);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto of_all = std::span(every.numbers).subspan(static_cast<size_t>(wanted[i]) * width, width);
    EXPECT_LE(relative_difference(std::span(some.numbers).subspan(i * width, width), of_all),
              run_->bound(tokens));
  }
}

TEST_P(Cuda, CachedAgreesWithRecomputed) {
  if (!run_->cpu().causal()) GTEST_SKIP() << "bidirectional";
  const Ids tokens = ids(90, 12);
  const Bits whole = run_->forward(tokens);
  model::KvCache cache = run_->model().new_cache(), other = run_->model().new_cache();
  Bits parts = run_->forward(Ids(tokens.begin(), tokens.begin() + 50), &cache);
  run_->forward(ids(30, 13), &other);
  for (size_t i = 50; i < 80; ++i) parts.append(run_->forward(Ids{tokens[i]}, &cache));
  EXPECT_EQ(cache.length(), 80);
  // A copy goes on where the original stood, packed with another sequence and one without a cache.
  model::KvCache copy = cache.prefix(80);
  const Ids rest(tokens.begin() + 80, tokens.end()), more = ids(3, 14), rows = all_rows(rest.size());
  parts.append(run_->forward({{more, {}, &other, {}}, {rest, rows, &copy, {}}, {more, {}, nullptr, {}}}));
  EXPECT_EQ(copy.length(), 90);
  EXPECT_EQ(other.length(), 33);
  EXPECT_LE(relative_difference(parts.numbers, whole.numbers), run_->bound(tokens));
}

INSTANTIATE_TEST_SUITE_P(Goldens, Cuda, ::testing::ValuesIn(testing::golden_cases()),
                         testing::golden_case_name);

}  // namespace
}  // namespace buoy
