// Predictions that a probe asks for, on every golden checkpoint: from the very logits of the rows, whether
// anybody else wants these logits or not, and without a change to what everybody else gets.

#include <gtest/gtest.h>

#include "model/predicting_probe.h"

namespace buoy {
namespace {

using testing::all_rows;
using testing::Bits;
using testing::expect_predictions;
using testing::GoldenRun;
using testing::Ids;
using testing::PredictingProbe;

class PredictionsOf : public ::testing::TestWithParam<std::string> {};

TEST_P(PredictionsOf, RowsEqualTheReference) {
  GoldenRun run(GetParam());
  const Ids ids = run.random_ids(150, 5);
  const Bits every = run.forward(ids);
  // In no order, one twice; some of them wanted anyway.
  PredictingProbe probe({149, 0, 3, 70, 3, 12}, {-1, 7, -1, 0, 2, -1}, 4);
  const Ids wanted = {12, 5, 5, 0};
  const Bits unwatched = run.forward({{ids, wanted, nullptr}});
  EXPECT_EQ(run.forward({{ids, wanted, nullptr}}, &probe), unwatched);
  ASSERT_EQ(probe.taken.size(), 1u);
  expect_predictions(probe.taken.begin()->second, probe, every.numbers, 0);
}

TEST_P(PredictionsOf, EveryRowWithNobodyElseWantingLogits) {
  GoldenRun run(GetParam());
  const Ids ids = run.random_ids(140, 6);  // more than are computed at a time
  const Bits every = run.forward(ids);
  PredictingProbe probe(all_rows(ids.size()), Ids(ids.size(), -1), 1);
  EXPECT_EQ(run.forward({{ids, {}, nullptr}}, &probe), Bits{});
  expect_predictions(probe.taken.at(0), probe, every.numbers, 0);
}

TEST_P(PredictionsOf, PackedSequencesAreThoseOfEachAlone) {
  GoldenRun run(GetParam());
  const std::vector<Ids> ids = {run.random_ids(9, 1), run.random_ids(30, 2), run.random_ids(17, 3)};
  const Ids wanted = {1, 4};
  PredictingProbe packed({8, 4, 2}, {1, -1, 3}, 6), alone({8, 4, 2}, {1, -1, 3}, 6);
  std::vector<model::SequenceInput> batch;
  for (size_t n = 0; n < ids.size(); ++n) {
    batch.push_back({ids[n], wanted, nullptr});
    batch.back().address.sequence = static_cast<std::int64_t>(n);
  }
  run.forward(batch, &packed);
  for (const auto& input : batch) run.forward({input}, &alone);
  ASSERT_EQ(packed.taken.size(), 3u);
  for (const auto& [sequence, record] : packed.taken) {
    const auto& other = alone.taken.at(sequence);
    EXPECT_EQ(record.confidence, other.confidence);
    EXPECT_EQ(record.entropy, other.entropy);
    EXPECT_EQ(record.margin, other.margin);
    EXPECT_EQ(record.top_tokens, other.top_tokens);
    EXPECT_EQ(record.top_probabilities, other.top_probabilities);
  }
}

TEST_P(PredictionsOf, NothingIsTakenWhereNothingIsAsked) {
  GoldenRun run(GetParam());
  PredictingProbe probe({}, {}, 3);
  run.forward(run.random_ids(5, 1), nullptr, &probe);
  EXPECT_TRUE(probe.taken.empty());
}

INSTANTIATE_TEST_SUITE_P(Goldens, PredictionsOf, ::testing::ValuesIn(testing::golden_cases()),
                         testing::golden_case_name);

}  // namespace
}  // namespace buoy
