// Predictions on the GPU: those of the logits that the GPU computes, and nothing else changes for them.

#include <gtest/gtest.h>

#include "model/cuda_run.h"
#include "model/predicting_probe.h"

namespace buoy {
namespace {

using testing::all_rows;
using testing::Bits;
using testing::CudaRun;
using testing::expect_predictions;
using testing::Ids;
using testing::PredictingProbe;

class PredictionsCuda : public ::testing::TestWithParam<std::string> {};

// Logits of the same rows in another product may round otherwise.
constexpr double kSlack = 2e-3;

TEST_P(PredictionsCuda, AreThoseOfItsLogits) {
  BUOY_NEEDS_GPU();
  CudaRun run(GetParam());
  const Ids ids = run.cpu().random_ids(150, 5);
  const Bits every = run.forward(ids);
  PredictingProbe probe({149, 0, 3, 70, 3, 12}, {-1, 7, -1, 0, 2, -1}, 4);
  const Ids wanted = {12, 5, 5, 0};
  const Bits unwatched = run.forward({{ids, wanted, nullptr}});
  EXPECT_EQ(run.forward({{ids, wanted, nullptr}}, &probe), unwatched);
  ASSERT_EQ(probe.taken.size(), 1u);
  expect_predictions(probe.taken.begin()->second, probe, every.numbers, kSlack);
}

TEST_P(PredictionsCuda, OfAPassWithoutOtherLogits) {
  BUOY_NEEDS_GPU();
  CudaRun run(GetParam());
  const Ids ids = run.cpu().random_ids(140, 6);
  const Bits every = run.forward(ids);
  PredictingProbe probe(all_rows(ids.size()), Ids(ids.size(), -1), 1);
  for (int pass = 0; pass < 3; ++pass) {  // prepared, recorded, replayed
    probe.taken.clear();
    run.forward({{ids, {}, nullptr}});
    EXPECT_EQ(run.forward({{ids, {}, nullptr}}, &probe), Bits{});
    expect_predictions(probe.taken.at(0), probe, every.numbers, kSlack);
  }
}

TEST_P(PredictionsCuda, ChoicesKeepTheirBits) {
  BUOY_NEEDS_GPU();
  CudaRun run(GetParam());
  const Ids ids = run.cpu().random_ids(60, 7), wanted = {3, 9, 59};
  const std::vector<model::SequenceInput> inputs = {{ids, wanted, nullptr}};
  const std::vector<ops::ChoiceRule> rules(wanted.size());
  const auto chosen = [&](probe::Probe* probe) {
    const auto choices = run.model().choose(run.context(), inputs, rules, probe);
    return std::vector<ops::RowChoice>(choices.begin(), choices.end());
  };
  const auto alone = chosen(nullptr);
  PredictingProbe probe({3, 10, 59}, {-1, -1, -1}, 2);
  const auto watched = chosen(&probe);
  ASSERT_EQ(watched.size(), alone.size());
  for (size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(watched[i].token, alone[i].token);
    EXPECT_EQ(watched[i].confidence, alone[i].confidence);
  }
  const auto& found = probe.taken.at(0);
  EXPECT_EQ(found.top_tokens[0], alone[0].token);
  EXPECT_NEAR(found.confidence[0], alone[0].confidence, kSlack);
  EXPECT_EQ(found.top_tokens[4], alone[2].token);
}

INSTANTIATE_TEST_SUITE_P(Goldens, PredictionsCuda, ::testing::ValuesIn(testing::golden_cases()),
                         testing::golden_case_name);

}  // namespace
}  // namespace buoy
