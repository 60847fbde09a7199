#include "buoy/run/ask/prefix_cache.h"

#include <gtest/gtest.h>

#include "buoy/base/random.h"
#include "buoy/decode/drive.h"
#include "buoy/run/decoding.h"
#include "run/runs.h"

namespace buoy::run {
namespace {

using Ids = std::vector<std::int32_t>;

class PrefixCaching : public ::testing::Test {
 protected:
  PrefixCaching() : model_(model::Model::load(testing::pair_model(false).path)) {}

  // `length` random tokens, others for every `number`.
  static Ids tokens(std::uint32_t number, std::uint32_t length) {
    Ids ids;
    for (std::uint32_t i = 0; i < length; ++i)
      ids.push_back(static_cast<std::int32_t>(uniform(5, {DrawStream::kWeights, 0, number, i}) * 2000));
    return ids;
  }
  static Ids joined(Ids a, const Ids& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  Ids generate(const Ids& prompt, std::optional<model::KvCache> cache) {
    DecodeOptions options;
    options.max_new_tokens = 6;
    auto machine = make_machine(model_, options, prompt, std::nullopt, std::move(cache));
    decode::StepMachine* machines[] = {machine.get()};
    decode::drive(context_, model_, machines, nullptr);
    return machine->row();
  }
  // What the prompt gives when started from the cache, and how much of it was known.
  std::int64_t expect_same(PrefixCache& cache, const Ids& prompt) {
    auto start = cache.start(prompt);
    const std::int64_t known = start.length();
    EXPECT_EQ(generate(prompt, std::move(start)), generate(prompt, std::nullopt));
    return known;
  }

  ThreadPool threads_{1};
  Context context_{threads_};
  model::Model model_;
};

TEST_F(PrefixCaching, WhatTheFirstTwoPromptsShareIsComputedOnce) {
  PrefixCache cache(context_, model_);
  const Ids common = tokens(0, 60);
  EXPECT_EQ(expect_same(cache, joined(common, tokens(1, 20))), 0);
  EXPECT_EQ(cache.length(), 0);
  EXPECT_EQ(expect_same(cache, joined(common, tokens(2, 9))), 60);
  EXPECT_EQ(cache.length(), 60);
  EXPECT_EQ(expect_same(cache, joined(common, tokens(3, 1))), 60) << "one token behind it";
  EXPECT_EQ(expect_same(cache, joined(common, tokens(4, 30))), 60);
  EXPECT_EQ(expect_same(cache, common), 59) << "the last token gives the logits and must run";
  EXPECT_EQ(expect_same(cache, joined(Ids(common.begin(), common.begin() + 25), tokens(5, 10))), 25);
  EXPECT_EQ(expect_same(cache, tokens(6, 40)), 0) << "a prompt that begins otherwise";
  EXPECT_EQ(expect_same(cache, Ids(common.begin(), common.begin() + 4)), 0) << "too short to be worth a copy";
  EXPECT_EQ(expect_same(cache, {common[0]}), 0);
  EXPECT_EQ(expect_same(cache, joined(common, tokens(7, 3))), 60) << "still there";
  EXPECT_EQ(cache.length(), 60);
}

TEST_F(PrefixCaching, TheSamePromptTwiceLeavesItsLastTokenToRun) {
  PrefixCache cache(context_, model_);
  const Ids prompt = tokens(0, 30);
  expect_same(cache, prompt);
  EXPECT_EQ(expect_same(cache, prompt), 29);
  EXPECT_EQ(expect_same(cache, prompt), 29);
  EXPECT_EQ(cache.length(), 29);
  EXPECT_EQ(expect_same(cache, joined(prompt, tokens(1, 5))), 29);
}

TEST_F(PrefixCaching, PromptsThatShareLittleKeepNothing) {
  PrefixCache cache(context_, model_);
  const Ids common = tokens(0, PrefixCache::kShortest - 1);
  expect_same(cache, joined(common, tokens(1, 20)));
  EXPECT_EQ(expect_same(cache, joined(common, tokens(2, 20))), 0);
  EXPECT_EQ(expect_same(cache, joined(common, tokens(1, 20))), 0);
  EXPECT_EQ(cache.length(), 0);
}

TEST_F(PrefixCaching, CopiesDoNotTouchEachOther) {
  PrefixCache cache(context_, model_);
  const Ids common = tokens(0, 20), a = joined(common, tokens(1, 4)), b = joined(common, tokens(2, 4));
  cache.start(a);
  auto for_a = cache.start(a), for_b = cache.start(b);
  const Ids from_a = generate(a, std::move(for_a));
  EXPECT_EQ(generate(b, std::move(for_b)), generate(b, std::nullopt))
      << "started before the other was extended";
  EXPECT_EQ(from_a, generate(a, std::nullopt));
}

}  // namespace
}  // namespace buoy::run
