// Predictions from the model to the trace, for tiny random models of every family: what is stored is what the
// rows that write the answer say, step by step, and to look at it changes nothing else.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "buoy/ops/sampling/prediction.h"
#include "buoy/questions/data/item_reader.h"
#include "buoy/run/trace_request.h"
#include "buoy/trace/reader.h"
#include "buoy/trace/rows/answer_rows.h"
#include "buoy/trace/schema.h"
#include "run/runs.h"
#include "support/golden.h"
#include "support/temp_folder.h"

namespace buoy::run {
namespace {

constexpr std::int64_t kGenerated = 5;

class Traced {
 public:
  explicit Traced(const std::filesystem::path& folder) : model_(load_model(folder)) {
    questions::Item item;
    item.id = "ids";
    request.items = {item};
    request.ids = Prompt{{5, 9, 2, 7, 11, 3, 8, 4, 6, 10, 12, 13}, "", {}};
    request.decode.max_new_tokens = kGenerated;
  }

  trace::StoredSample trace(const std::string& observe, const std::string& id = "ids") {
    request.observe = observe;
    request.folder = scratch_ / std::to_string(number_++);
    ThreadPool threads(2);
    run_trace({threads}, model_, make_trace_run(request, model_), {[](const auto&) {}, [] {}});
    return trace::TraceReader::open(request.folder).read(id);
  }

  // Logits of every row of a forward that sees these tokens.
  std::vector<float> logits(const std::vector<std::int32_t>& row, std::int64_t prompt_length) {
    std::vector<std::int32_t> rows(row.size());
    std::iota(rows.begin(), rows.end(), 0);
    std::vector<model::SequenceInput> inputs = {{row, rows}};
    inputs[0].prefix = prompt_length;
    ThreadPool threads(1);
    const float* logits = model_.model.forward({threads}, inputs);
    return {logits, logits + std::ssize(row) * vocabulary()};
  }
  std::int64_t vocabulary() const { return model_.model.config().vocabulary; }

  TraceRequest request;

 private:
  testing::TempFolder scratch_;
  LoadedModel model_;
  int number_ = 0;
};

class PredictedFamily : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Families, PredictedFamily, ::testing::ValuesIn(testing::golden_cases()),
                         [](const auto& p) {
                           std::string name = p.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(PredictedFamily, EqualTheReferenceAtEveryStep) {
  Traced traced(testing::Golden(GetParam()).folder());
  traced.request.predicted_tokens = 3;
  const auto sample = traced.trace("predictions");
  const auto prompt_length = sample.integer_text(trace::kPromptLength),
             offset = sample.integer_text(trace::kPredictionOffset);
  const std::int64_t mask = sample.has_text(trace::kMaskToken) ? sample.integer_text(trace::kMaskToken) : -1;
  const auto& shape = sample.shape(trace::kPredictedTokens);
  ASSERT_EQ(shape.size(), 3u);
  ASSERT_EQ(shape[0], sample.shape(trace::kSteps)[0]);
  ASSERT_EQ(shape[1], sample.shape(trace::kTokens)[0] - prompt_length);
  ASSERT_EQ(shape[2], 3);
  std::int64_t masked = 0, held_tokens = 0;
  for (std::int64_t s = 0; s < shape[0]; ++s) {
    const auto row = sample.integers_at(trace::kTokensByStep, {s});
    const auto logits = traced.logits(row, prompt_length);
    const auto confidence = sample.floats_at(trace::kPredictedConfidence, {s}),
               entropy = sample.floats_at(trace::kPredictedEntropy, {s}),
               margin = sample.floats_at(trace::kPredictedMargin, {s}),
               probabilities = sample.floats_at(trace::kPredictedProbabilities, {s});
    const auto tokens = sample.integers_at(trace::kPredictedTokens, {s});
    for (std::int64_t slot = 0; slot < shape[1]; ++slot) {
      const auto token = row[static_cast<size_t>(prompt_length + slot)];
      const auto first =
          logits.begin() + trace::row_that_writes(prompt_length + slot, offset) * traced.vocabulary();
      std::vector<std::int32_t> expected_tokens(3);
      std::vector<double> expected_probabilities(3);
      const auto expected = ops::predict_row_reference(
          std::vector<double>(first, first + traced.vocabulary()), token == mask ? ops::kMostProbable : token,
          expected_tokens, expected_probabilities);
      (token == mask ? masked : held_tokens) += 1;
      const auto at = static_cast<size_t>(slot);
      EXPECT_NEAR(confidence[at], expected.confidence, 1e-7) << s << ", " << slot;
      EXPECT_NEAR(entropy[at], expected.entropy, 1e-6 * (1 + expected.entropy)) << s << ", " << slot;
      EXPECT_NEAR(margin[at], expected.margin, 1e-7) << s << ", " << slot;
      for (size_t k = 0; k < 3; ++k) {
        EXPECT_EQ(tokens[3 * at + k], expected_tokens[k]) << s << ", " << slot;
        EXPECT_NEAR(probabilities[3 * at + k], expected_probabilities[k], 1e-7) << s << ", " << slot;
      }
    }
  }
  EXPECT_GT(held_tokens, 0);
  EXPECT_EQ(masked > 0, mask >= 0);
}

TEST_P(PredictedFamily, AreTheSameWithOthersAndLeaveThemAlone) {
  Traced traced(testing::Golden(GetParam()).folder());
  const auto alone = traced.trace("predictions"), without = traced.trace("received,entropy"),
             with = traced.trace("received,predictions,entropy");
  EXPECT_EQ(alone.integers(trace::kTokens), without.integers(trace::kTokens));
  EXPECT_EQ(with.integers(trace::kTokens), without.integers(trace::kTokens));
  EXPECT_EQ(with.floats(trace::kReceived), without.floats(trace::kReceived));
  EXPECT_EQ(with.floats(trace::kEntropy), without.floats(trace::kEntropy));
  EXPECT_EQ(with.integers(trace::kPredictedTokens), alone.integers(trace::kPredictedTokens));
  for (const auto array : {trace::kPredictedConfidence, trace::kPredictedEntropy, trace::kPredictedMargin,
                           trace::kPredictedProbabilities})
    EXPECT_EQ(with.floats(array), alone.floats(array)) << array;
  EXPECT_FALSE(without.has(trace::kPredictedTokens));
  EXPECT_EQ(alone.shape(trace::kPredictedTokens).back(), 5) << "unless told";
}

// Greedy decoding takes what is on top: at the step of its reveal a token was the most probable one. (Dream's
// own order reveals whatever comes, so this holds there too.)
TEST_P(PredictedFamily, WhatIsRevealedWasOnTop) {
  Traced traced(testing::Golden(GetParam()).folder());
  const auto sample = traced.trace("predictions");
  const auto tokens = sample.integers(trace::kTokens), revealed_at = sample.integers(trace::kRevealedAt);
  const auto prompt_length = static_cast<size_t>(sample.integer_text(trace::kPromptLength));
  const bool diffusion = sample.has_text(trace::kMaskToken);
  std::int64_t revealed = 0;
  for (size_t p = prompt_length; p < tokens.size(); ++p) {
    if (revealed_at[p] < 0) continue;
    const auto top = sample.integers_at(
        trace::kPredictedTokens, {diffusion ? revealed_at[p] : 0, static_cast<int>(p - prompt_length)});
    EXPECT_EQ(top.front(), tokens[p]) << p;
    ++revealed;
  }
  EXPECT_GT(revealed, 0);
}

TEST_P(PredictedFamily, OfSomeStepsWithoutTheLookAtTheEnd) {
  Traced traced(testing::Golden(GetParam()).folder());
  const auto every = traced.trace("predictions");
  if (!every.has_text(trace::kMaskToken)) GTEST_SKIP() << "one forward";
  traced.request.steps_observed = "1,3";
  traced.request.final_row = false;
  const auto some = traced.trace("predictions");
  ASSERT_EQ(some.shape(trace::kPredictedConfidence), (std::vector<std::int64_t>{2, kGenerated}));
  for (const auto& [at, step] : {std::pair{0, 1}, {1, 3}}) {
    EXPECT_EQ(some.floats_at(trace::kPredictedEntropy, {at}),
              every.floats_at(trace::kPredictedEntropy, {step}));
    EXPECT_EQ(some.integers_at(trace::kPredictedTokens, {at}),
              every.integers_at(trace::kPredictedTokens, {step}));
  }
}

// The pair knows the answers to its questions; the trace says whether they came.
TEST(PredictedPair, TracesSayWhetherTheAnswerIsRight) {
  const testing::TempFolder scratch;
  for (const bool diffusion : {true, false}) {
    Traced traced(testing::pair_model(diffusion).path);
    const auto data = testing::write_world(scratch, {.count = 1, .passages = 3});
    traced.request.ids.reset();
    traced.request.items = questions::read_items(data, {});
    traced.request.prompt_template = testing::pair_spec(data, {}).prompt_template;
    const std::string id = traced.request.items[0].id;
    EXPECT_EQ(traced.trace("predictions", id).text(trace::kRight), "1");
    traced.request.items[0].answers = {"nobody has this name"};
    EXPECT_EQ(traced.trace("predictions", id).text(trace::kRight), "0");
    traced.request.items[0].answers.clear();
    EXPECT_FALSE(traced.trace("predictions", id).has_text(trace::kRight));
  }
}

}  // namespace
}  // namespace buoy::run
