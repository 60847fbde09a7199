#include "buoy/run/live/live_sample.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <vector>

namespace buoy::run {
namespace {

constexpr std::int64_t kTokens = 4;
const std::vector<std::int32_t> kEnded = {1, 2, 5, 7};

observe::Subject subject_of_steps(std::int64_t steps) {
  return {.tokens = kTokens,
          .prompt_length = 2,
          .steps = steps,
          .layers = 1,
          .heads = 2,
          .kv_heads = 1,
          .head_dim = 3,
          .prediction_offset = 0,
          .mask_token = 9,
          .end_tokens = {7},
          .regions = {{"bos", "query", "answer", "padding"}, {0, 1, 2, 2}, {}, {}},
          .groups = observe::QueryGroups::by_state()};
}

std::unique_ptr<LiveSample> sample_of_steps(std::int64_t steps) {
  static const ItemPrompt prompt;
  return std::make_unique<LiveSample>(
      observe::RecordLayout(observe::parse_plan("received,mass", "", ""), subject_of_steps(steps)),
      LivePrompt{prompt, 0, true}, std::nullopt, [](LiveRecord&) {});
}

// Sinks copy the layout on a thread of their own while the model asks. Of an autoregressive model the first
// row that is seen holds the end of the answer already, so what is asked for is made anew: a layout that kept
// it would be changed under the hands of whoever copies it.
TEST(LiveSample, LayoutKeepsNothingOfWhatIsAsked) {
  const auto sample = sample_of_steps(1);
  const auto sets = sample->request({0, 0, 0, 0}, {kTokens, kTokens, 2, kEnded}).key_sets;
  const auto owners = sets.use_count();
  const observe::RecordLayout copy(sample->layout());
  EXPECT_EQ(sets.use_count(), owners);
}

// The same as it happens; for the thread sanitizer, because a crash would be rare.
TEST(LiveSample, LayoutMayBeCopiedWhileTheModelAsks) {
  constexpr size_t kSamples = 200;
  for (size_t i = 0; i < kSamples; ++i) {
    const auto sample = sample_of_steps(1);
    auto copied = std::async(std::launch::async, [&] { return observe::RecordLayout(sample->layout()); });
    const auto asked = sample->request({0, 0, 0, 0}, {kTokens, kTokens, 2, kEnded});
    EXPECT_EQ(asked.sets(), 4) << "one a region";
    EXPECT_EQ(copied.get().subject().tokens, kTokens);
  }
}

TEST(LiveSample, KeepsSetsOfKeysAsLongAsTheAnswerEndsAtTheSamePlace) {
  const auto sample = sample_of_steps(3);
  const auto ask = [&](std::int64_t step, const std::vector<std::int32_t>& row) {
    return sample->request({0, step, 0, 0}, {kTokens, kTokens, 2, row}).key_sets;
  };
  const auto first = ask(0, {1, 2, 9, 9}), second = ask(1, {1, 2, 5, 9}), ended = ask(2, {1, 2, 7, 9});
  EXPECT_EQ(first, second);
  EXPECT_NE(second, ended);
}

}  // namespace
}  // namespace buoy::run
