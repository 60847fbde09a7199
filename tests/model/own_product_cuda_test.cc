// Our own matrix product through a whole pass. By their shape only large models reach it, so here it is asked
// for: gate and up as they were uploaded in turn, queries and keys rotated, sums added to the residual stream
// and the best logits found before they leave the registers. The bound is that of cuda_test.cc.

#include <gtest/gtest.h>

#include <algorithm>

#include "buoy/benchmark/random_checkpoint.h"
#include "buoy/model/device/device_pass.h"
#include "buoy/ops/linear/linear_cuda.h"
#include "model/cuda_run.h"

namespace buoy {
namespace {

using testing::Ids;
using testing::relative_difference;

struct Shape {
  const char* name;
  benchmark::ShapeOfModel model;
};

class OwnProductCuda : public ::testing::TestWithParam<Shape> {
 protected:
  void SetUp() override {
    BUOY_NEEDS_GPU();
    benchmark::write_random_checkpoint(folder(), GetParam().model, 4);
    Checkpoint checkpoint = Checkpoint::open(folder());
    const auto weights = model::load_weights(checkpoint, model::traits_of(checkpoint.config().family));
    pass_ = std::make_unique<model::DevicePass>(checkpoint.config(),
                                                model::DeviceWeights::load(checkpoint.config(), weights));
    pass_->choose_products(ops::LinearChoice::kOwn);
  }
  std::filesystem::path folder() const { return folder_.path() / "model"; }
  size_t vocabulary() const { return static_cast<size_t>(GetParam().model.vocabulary); }
  Ids ids(std::int32_t length) const {
    Ids out;
    for (std::int32_t i = 0; i < length; ++i) out.push_back((i * 37 + length) % 500);
    return out;
  }
  std::vector<float> logits(const Ids& tokens) {
    const Ids rows = testing::all_rows(tokens.size());
    const float* found =
        pass_->logits({threads_}, std::vector<model::SequenceInput>{{tokens, rows, nullptr, {}}}, nullptr);
    return {found, found + tokens.size() * vocabulary()};
  }

  testing::TempFolder folder_;
  ThreadPool threads_{4};
  std::unique_ptr<model::DevicePass> pass_;
};

TEST_P(OwnProductCuda, LikeTheCpu) {
  model::Model cpu = model::Model::load(folder());
  const testing::PlainBf16 plain(folder());
  for (const std::int32_t length : {33, 300}) {
    const Ids tokens = ids(length), rows = testing::all_rows(tokens.size());
    const float* numbers =
        cpu.forward({threads_}, std::vector<model::SequenceInput>{{tokens, rows, nullptr, {}}});
    const std::vector<float> expected(numbers, numbers + tokens.size() * vocabulary());
    const double bound = 2 * relative_difference(plain.forward(tokens), expected);
    EXPECT_LE(relative_difference(logits(tokens), expected), bound) << length;
  }
}

TEST_P(OwnProductCuda, ChoosesTheLargestLogits) {
  for (const std::int32_t length : {5, 300}) {
    const Ids tokens = ids(length), rows = testing::all_rows(tokens.size());
    const std::vector<float> all = logits(tokens);
    const std::vector<ops::ChoiceRule> greedy(tokens.size());
    const auto choices = pass_->choices(
        {threads_}, std::vector<model::SequenceInput>{{tokens, rows, nullptr, {}}}, greedy, nullptr);
    ASSERT_EQ(choices.size(), tokens.size());
    for (size_t row = 0; row < choices.size(); ++row) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(row * vocabulary());
      const auto largest = std::max_element(first, first + static_cast<std::ptrdiff_t>(vocabulary()));
      EXPECT_EQ(choices[row].token, largest - first) << "row " << row << " of " << length;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, OwnProductCuda,
                         ::testing::Values(Shape{"llada64", {Family::kLlada, 320, 2, 5, 5, 64, 448, 1000}},
                                           Shape{"llama128", {Family::kLlama, 384, 2, 3, 1, 128, 200, 520}}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace buoy
