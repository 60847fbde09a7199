// What a packed stream is watched for, record by record: values that F16 cannot hold, and that are no
// numbers.

#include "buoy/run/live/watched_questions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "buoy/decode/llada.h"
#include "buoy/run/attention_features.h"
#include "buoy/run/prompter.h"

namespace buoy::run {
namespace {

constexpr std::int32_t kMask = 9;

class Watching : public ::testing::TestWithParam<int> {  // threads
 protected:
  Watching() {
    config_.family = Family::kLlada;
    config_.layers = 2;
    config_.heads = config_.kv_heads = 2;
    config_.head_dim = 4;
    config_.mask_token = kMask;
    request_.observe = kFeatureObservables;
    request_.float16 = true;
    request_.decode.max_new_tokens = 2;
    request_.decode.steps = 1;
    prompt_.id = "q";
    prompt_.prompt.ids = {1, 2, 3};
    prompt_.regions.names = {"question"};
    prompt_.regions.of_token = {0, 0, 0};
    decode::LladaOptions options;
    options.max_new_tokens = options.block_length = 2;
    options.steps = 1;
    options.mask_token = kMask;
    machine_.emplace(prompt_.prompt.ids, options);
  }

  // As if the model had run: every key receives this much from every group.
  std::map<std::size_t, WatchedOutcome> watch(const std::vector<float>& received_by_question,
                                              const std::set<std::string>& as_f32 = {}) {
    std::map<std::size_t, WatchedOutcome> out;
    ThreadPool threads(GetParam());
    const Context context{threads};
    WatchedQuestions watched(
        context, config_, request_, std::nullopt,
        [&](std::size_t number, WatchedOutcome outcome) { out[number] = std::move(outcome); });
    for (std::size_t n = 0; n < received_by_question.size(); ++n) {
      const auto look = watched.begin({n, prompt_, *machine_}, as_f32);
      EXPECT_TRUE(look);
      EXPECT_EQ(look->step, 1) << "behind the one step";
    }
    for (std::int64_t step = 0; step < 2; ++step) {
      for (std::int64_t layer = 0; layer < 2; ++layer) {
        for (std::size_t n = 0; n < received_by_question.size(); ++n)
          one(watched, {static_cast<std::int64_t>(n), step, 0, layer}, received_by_question[n]);
      }
    }
    for (std::size_t n = 0; n < received_by_question.size(); ++n) watched.end(n);
    watched.finish();
    return out;
  }

  void one(WatchedQuestions& watched, const probe::Address& address, float received) const {
    const auto& row = machine_->row();
    const auto tokens = std::ssize(row);
    const auto wanted = watched.request(address, {tokens, tokens, 2, row});
    EXPECT_TRUE(wanted.received);
    probe::LayerRecord record;
    record.states = {tokens, tokens, 0, 2, 2, 4};
    record.received.assign(static_cast<std::size_t>(wanted.groups * 2 * tokens), received);
    const auto close = wanted.rows.size() * 2;
    record.row_weights.assign(close * static_cast<std::size_t>(tokens), 0.1f);
    record.top_keys.assign(close * static_cast<std::size_t>(wanted.top), 0);
    record.top_weights.assign(close * static_cast<std::size_t>(wanted.top), 0.1f);
    watched.take(address, std::move(record));
  }

  ModelConfig config_;
  Request request_;
  ItemPrompt prompt_;
  std::optional<decode::LladaMachine> machine_;
};
INSTANTIATE_TEST_SUITE_P(Threads, Watching, ::testing::Values(1, 2, 4));

TEST_P(Watching, WhatF16CannotHoldIsAskedForOnceMore) {
  const auto found = watch({1, 0x1p20f, 2});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found.at(0).exceeding, std::set<std::string>{});
  EXPECT_EQ(found.at(1).exceeding, std::set<std::string>{"received"});
  EXPECT_TRUE(found.at(1).features.empty());
  EXPECT_TRUE(found.at(0).features.contains("top_share"));
  const auto again = watch({1, 0x1p20f}, {"received"});
  for (const auto& [number, outcome] : again) {
    EXPECT_TRUE(outcome.exceeding.empty());
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(outcome.features.at("anchors"), found.at(0).features.at("anchors")) << "all keys alike";
  }
}

TEST_P(Watching, ANumberThatIsNoneFailsItsQuestionAlone) {
  const auto found = watch({1, NAN, 1});
  EXPECT_NE(found.at(1).error.find("received"), std::string::npos) << found.at(1).error;
  EXPECT_TRUE(found.at(1).features.empty());
  for (const std::size_t n : {0u, 2u}) {
    EXPECT_EQ(found.at(n).error, "");
    EXPECT_TRUE(found.at(n).features.contains("top_share"));
  }
}

TEST_P(Watching, WhatIsDroppedIsForgottenAndAStrangerIsNotWatched) {
  ThreadPool threads(GetParam());
  const Context context{threads};
  int settled = 0;
  WatchedQuestions watched(context, config_, request_, std::nullopt,
                           [&](std::size_t, const WatchedOutcome&) { ++settled; });
  watched.begin({3, prompt_, *machine_});
  one(watched, {3, 0, 0, 0}, 1);
  watched.drop();
  const auto& row = machine_->row();
  EXPECT_FALSE(watched.request({3, 0, 0, 1}, {std::ssize(row), std::ssize(row), 2, row}).any());
  watched.finish();
  EXPECT_EQ(settled, 0);
}

}  // namespace
}  // namespace buoy::run
