// The residual stream on the GPU: reading changes no bit, what is read and changed is that of the CPU to
// rounding, each sequence of a packed batch has its own, and replayed graphs see the rows of their pass.

#include <gtest/gtest.h>

#include "model/cuda_run.h"
#include "model/residual_probe.h"
#include "ops/error_ratio.h"

namespace buoy {
namespace {

using probe::ResidualPoint;
using testing::all_rows;
using testing::Bits;
using testing::CudaRun;
using testing::Ids;
using testing::relative_difference;
using testing::ResidualProbe;

class ResidualCuda : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    BUOY_NEEDS_GPU();
    run_ = std::make_unique<CudaRun>(GetParam());
    bound_ = 2 * run_->bound(ids(131, 6));
  }
  Ids ids(std::int64_t count, std::uint64_t seed) { return run_->cpu().random_ids(count, seed); }
  std::int64_t layers() { return run_->model().config().layers; }
  std::vector<float> vector(std::uint64_t seed, std::int64_t rows = 1) {
    return testing::normal_numbers(seed, rows * run_->model().config().hidden);
  }

  // What attention and MLP add is, on a GPU, a difference of the stream: it is compared at the stream's size.
  void expect_alike(const ResidualProbe& ours, const ResidualProbe& cpu) {
    ASSERT_EQ(ours.seen.size(), cpu.seen.size());
    for (const auto& [address, expected] : cpu.seen) {
      const auto& found = ours.seen.at(address);
      const auto compare = [&](const char* name, const std::vector<float>& a, const std::vector<float>& b) {
        EXPECT_EQ(a.size(), b.size()) << name;
        EXPECT_LE(relative_difference(a, b), bound_)
            << name << " of sequence " << address.first << ", layer " << address.second;
      };
      compare("pre", found.pre, expected.pre);
      compare("mid", found.mid, expected.mid);
      compare("post", found.post, expected.post);
      compare("head_out", found.head_out, expected.head_out);
      compare("attention_out", found.attention_out, expected.attention_out);
      compare("mlp_out", found.mlp_out, expected.mlp_out);
      compare("norm", found.norm, expected.norm);
      EXPECT_EQ(found.lens_tokens.size(), expected.lens_tokens.size());
    }
  }

  std::unique_ptr<CudaRun> run_;
  double bound_ = 0;
};

TEST_P(ResidualCuda, ReadingChangesNoBit) {
  const Ids tokens = ids(200, 4);
  const Bits unwatched = run_->forward(tokens);
  ResidualProbe probe;
  probe.want_everything({0, 7, 199}, 4);
  probe.wanted.norms = true;
  for (int pass = 0; pass < 3; ++pass) {  // queued, recorded, replayed
    EXPECT_EQ(run_->forward(tokens, nullptr, &probe), unwatched);
    EXPECT_EQ(std::ssize(probe.seen), layers());
  }
}

TEST_P(ResidualCuda, EveryPointLikeTheCpuPackedAndReplayed) {
  const Ids first = ids(70, 5), second = ids(131, 6), rows1 = all_rows(first.size()),
            rows2 = all_rows(second.size());
  const std::vector<model::SequenceInput> batch = {{first, rows1, nullptr, {0, 0, 0, 0}},
                                                   {second, rows2, nullptr, {1, 0, 0, 0}}};
  for (const Ids& rows : std::vector<Ids>{{0, 3, 69}, {0, 3, 69}, {1, 4, 68}, {2}}) {
    ResidualProbe cpu, ours;
    for (ResidualProbe* probe : {&cpu, &ours}) {
      probe->want_everything(rows, 3);
      probe->wanted.norms = true;
    }
    run_->cpu().forward(batch, &cpu);
    run_->forward(batch, &ours);
    expect_alike(ours, cpu);
  }
}

TEST_P(ResidualCuda, WithoutLogitsTheLastLayerIsReadAllTheSame) {
  const Ids tokens = ids(40, 5);
  ResidualProbe cpu, ours;
  cpu.want_everything({5, 39});
  ours.want_everything({5, 39});
  const std::vector<model::SequenceInput> input = {{tokens, {}, nullptr}};
  run_->cpu().forward(input, &cpu);
  run_->forward(input, &ours);
  expect_alike(ours, cpu);
}

TEST_P(ResidualCuda, ChangesActOnTheirSequenceAlone) {
  const Ids first = ids(50, 9), second = ids(60, 10), rows1 = all_rows(first.size()),
            rows2 = all_rows(second.size());
  const std::vector<model::SequenceInput> batch = {{first, rows1, nullptr, {0, 0, 0, 0}},
                                                   {second, rows2, nullptr, {1, 0, 0, 0}}};
  ResidualProbe cpu, ours;
  for (ResidualProbe* probe : {&cpu, &ours}) {
    probe->want_everything({0, 20, 49});
    probe->sequence = 1;
    probe->changes[0] = {{{{3, 20}, vector(1, 2), ResidualPoint::kPre},
                          {{20}, vector(2), ResidualPoint::kMid},
                          {{0, 5, 49}, vector(3), ResidualPoint::kPost, true}},
                         0.5f};
    probe->changes[layers() - 1].mlp_scale = 0;
  }
  const Bits expected = run_->cpu().forward(batch, &cpu), found = run_->forward(batch, &ours);
  EXPECT_LE(relative_difference(found.numbers, expected.numbers), bound_);
  expect_alike(ours, cpu);
  // The same pass without changes is what it was.
  EXPECT_EQ(run_->forward(batch), run_->forward(batch));
  const auto width = static_cast<std::ptrdiff_t>(first.size()) * run_->model().config().vocabulary;
  const Bits plain = run_->forward(batch);
  EXPECT_TRUE(std::equal(plain.numbers.begin(), plain.numbers.begin() + width, found.numbers.begin()));
  EXPECT_FALSE(plain == found);
}

TEST_P(ResidualCuda, MlpsOfAllSequencesLeftOut) {
  const Ids tokens = ids(33, 3);
  ResidualProbe cpu, ours;
  for (ResidualProbe* probe : {&cpu, &ours}) {
    probe->want_everything({32});
    probe->changes[0].mlp_scale = 0;
  }
  const Bits expected = run_->cpu().forward(tokens, nullptr, &cpu),
             found = run_->forward(tokens, nullptr, &ours);
  EXPECT_LE(relative_difference(found.numbers, expected.numbers), bound_);
  EXPECT_EQ(ours.layer(0).mid, ours.layer(0).post);
}

TEST_P(ResidualCuda, LensBehindTheLastLayerIsThePrediction) {
  const Ids tokens = ids(90, 8), rows = all_rows(tokens.size());  // more than are looked at together
  ResidualProbe probe;
  probe.wanted.rows = rows;
  probe.wanted.lens = 2;
  const Bits logits = run_->forward(tokens, nullptr, &probe);
  const auto width = static_cast<size_t>(run_->model().config().vocabulary);
  const auto& last = probe.layer(layers() - 1);
  for (size_t row = 0; row < rows.size(); ++row) {
    const auto* begin = logits.numbers.data() + row * width;
    const auto best = static_cast<size_t>(std::max_element(begin, begin + width) - begin);
    double sum = 0;
    for (size_t i = 0; i < width; ++i) sum += std::exp(double{begin[i]} - begin[best]);
    // Products of other heights may round otherwise, by a unit in the last place of bf16 of the states.
    EXPECT_NEAR(last.lens_probabilities[2 * row], 1 / sum, 1.0 / 128) << row;
    EXPECT_GE(begin[last.lens_tokens[2 * row]], begin[best] - std::abs(begin[best]) / 128) << row;
    EXPECT_GE(last.lens_probabilities[2 * row], last.lens_probabilities[2 * row + 1]);
  }
}

INSTANTIATE_TEST_SUITE_P(Goldens, ResidualCuda, ::testing::ValuesIn(testing::golden_cases()),
                         testing::golden_case_name);

}  // namespace
}  // namespace buoy
