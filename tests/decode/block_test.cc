// Block decoding on made-up logits: layouts, selections, schedules; what is refused.

#include <gtest/gtest.h>

#include <cmath>

#include "buoy/base/error.h"
#include "buoy/decode/block_families.h"
#include "buoy/decode/drive.h"
#include "buoy/decode/llada.h"
#include "support/fails_with.h"
#include "support/family_case.h"

namespace buoy::decode {
namespace {

using testing::fails_with;
using Counts = std::vector<std::int64_t>;

TEST(BlockSchedule, QuotasAndTheLibrarysRounding) {
  EXPECT_EQ(quota_counts(32, 5), (Counts{7, 7, 6, 6, 6}));
  EXPECT_EQ(quota_counts(10, 4), (Counts{3, 3, 2, 2}));
  EXPECT_EQ(quota_counts(7, 3), (Counts{3, 2, 2}));
  EXPECT_EQ(dllm_counts(10, 4), (Counts{2, 3, 2, 3}));
  EXPECT_EQ(dllm_counts(7, 3), (Counts{2, 2, 3}));
  EXPECT_EQ(dllm_counts(10, 3), (Counts{3, 3, 4}));
  EXPECT_EQ(dllm_counts(32, 8), quota_counts(32, 8));
  // float32 decides; float64 would give 6 7 6 6 7 (tools/goldens/FAMILIES.md).
  EXPECT_EQ(dllm_counts(32, 5), (Counts{6, 6, 7, 6, 7}));
  for (const std::int64_t masks : {1, 5, 31, 128}) {
    for (const std::int32_t steps : {1, 3, 7, 64, 200}) {
      std::int64_t sum = 0;
      for (const auto count : dllm_counts(masks, steps)) sum += count;
      EXPECT_EQ(sum, masks) << masks << " " << steps;
    }
  }
}

BlockOptions sdar_like(std::int32_t block, std::int32_t tokens) {
  BlockOptions o;
  o.max_new_tokens = tokens;
  o.block_length = o.sub_block_length = block;
  o.schedule = {BlockSchedule::Rule::kQuota, block, true};
  o.mask_token = 9;
  return o;
}

model::KvCache no_cache() {
  return model::KvCache(1, 1);
}

// Ranges of positions that the denoising forwards of a recomputed run decode.
std::vector<std::pair<std::int64_t, std::int64_t>> ranges(std::int64_t prompt, BlockOptions options) {
  options.cached = false;
  BlockMachine machine(std::vector<std::int32_t>(static_cast<size_t>(prompt), 1), options, no_cache());
  std::vector<std::pair<std::int64_t, std::int64_t>> out;
  while (!machine.finished()) {
    const auto forwards = machine.next_forwards();
    const auto end = forwards[0].rows();
    const auto begin = std::max<std::int64_t>(0, (end - 1) / options.block_length * options.block_length);
    if (out.empty() || out.back().second != end) out.emplace_back(begin, end);
    const std::vector<float> logits(forwards[0].logit_rows.size() * 10, 0.0f);
    const LogitRows rows{logits.data(), 10};
    machine.advance({&rows, 1});
  }
  return out;
}

TEST(BlockLayout, BlocksOfTheGridFromZero) {
  using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(ranges(6, sdar_like(4, 6)), (Ranges{{4, 8}, {8, 12}}));
  EXPECT_EQ(ranges(8, sdar_like(4, 4)), (Ranges{{8, 12}}));
  EXPECT_EQ(ranges(3, sdar_like(4, 2)), (Ranges{{0, 4}, {4, 8}}));
  EXPECT_EQ(ranges(33, sdar_like(32, 32)), (Ranges{{32, 64}, {64, 96}}));
  EXPECT_EQ(ranges(32, sdar_like(32, 32)), (Ranges{{32, 64}}));
}

// Positions that are filled step by step when row i has this probability for its best token.
std::vector<std::vector<std::int32_t>> filled(BlockOptions options) {
  const double p[4][4] = {{.95, .5, .91, .3}, {.99, .6, .99, .7}, {.9, .92, .9, .9}, {.9, .9, .9, .9}};
  options.cached = false;
  BlockMachine machine(std::vector<std::int32_t>{1, 1, 1, 1}, options, no_cache());
  std::vector<std::vector<std::int32_t>> out;
  for (size_t step = 0; !machine.finished(); ++step) {
    const auto forwards = machine.next_forwards();
    std::vector<float> logits;
    for (const auto row : forwards[0].logit_rows) {
      // One token with probability p, another one with the rest, the mask forbidden.
      std::vector<float> one(10, -1e9f);
      const double sure = p[step][row - 4];
      one[3] = static_cast<float>(std::log(sure));
      for (const size_t v : {4, 5, 6}) one[v] = static_cast<float>(std::log((1 - sure) / 3));
      logits.insert(logits.end(), one.begin(), one.end());
    }
    const LogitRows rows{logits.data(), 10};
    auto& positions = out.emplace_back();
    for (const auto& reveal : machine.advance({&rows, 1}).reveals) positions.push_back(reveal.position - 4);
  }
  return out;
}

TEST(BlockSelection, ThresholdsAndQuotas) {
  using Steps = std::vector<std::vector<std::int32_t>>;
  BlockOptions o = sdar_like(4, 4);
  o.order = BlockOrder::kThreshold;
  o.threshold = 0.9;
  EXPECT_EQ(filled(o), (Steps{{0, 2}, {3}, {1}}));
  o.schedule.steps = 2;
  EXPECT_EQ(filled(o), (Steps{{0, 2}, {1, 3}}));
  o.schedule.steps = 4;
  o.threshold = 0.95001;
  EXPECT_EQ(filled(o), (Steps{{0}, {2}, {1}, {3}}));
}

// Two tokens share a row: each has exactly one half, and that is not more than one half.
TEST(BlockSelection, TheThresholdIsStrict) {
  BlockOptions o = sdar_like(4, 4);
  o.order = BlockOrder::kThreshold;
  o.threshold = 0.5;
  o.cached = false;
  BlockMachine machine(std::vector<std::int32_t>{1, 1, 1, 1}, o, no_cache());
  while (!machine.finished()) {
    std::vector<float> logits;
    for (size_t i = 0; i < machine.next_forwards()[0].logit_rows.size(); ++i)
      for (int v = 0; v < 10; ++v) logits.push_back(v == 3 || v == 4 ? 0.0f : -1e9f);
    const LogitRows rows{logits.data(), 10};
    const auto record = machine.advance({&rows, 1});
    ASSERT_EQ(record.reveals.size(), 1u);
    EXPECT_EQ(record.reveals[0].position, 4 + record.step);
    EXPECT_EQ(record.reveals[0].token, 3);
  }
  EXPECT_EQ(machine.step(), 4);
}

ModelConfig config_of(Family family) {
  ModelConfig config;
  config.family = family;
  config.vocabulary = 10;
  config.block_length = 4;
  config.states_block_length = true;
  return config;
}

TEST(BlockRefusals, NameTheFieldExpectedAndFound) {
  DecodeOptions o;
  o.mask_token = 9;
  EXPECT_TRUE(fails_with<UsageError>([&] { decodes_blocks(config_of(Family::kA2dQwen3), o); },
                                     {"`decoding_rule`", "expected mdlm or bd3lm", "found none"}));
  o.decoding_rule = "ar";
  EXPECT_TRUE(fails_with<UsageError>([&] { decodes_blocks(config_of(Family::kA2dQwen3), o); },
                                     {"`decoding_rule`", "found \"ar\""}));
  o.decoding_rule = "mdlm";
  EXPECT_FALSE(decodes_blocks(config_of(Family::kA2dQwen3), o));
  EXPECT_TRUE(
      fails_with<UsageError>([&] { check_options(config_of(Family::kSdar), o); }, {"`decoding_rule`"}));
  o.shifted_rows = true;  // bd3lm's
  EXPECT_TRUE(
      fails_with<UsageError>([&] { check_options(config_of(Family::kA2dQwen3), o); }, {"`shifted_rows`"}));
  o = {};
  o.mask_token = 9;
  o.block_length = 8;
  EXPECT_TRUE(fails_with<UsageError>([&] { block_options(config_of(Family::kSdar), o); },
                                     {"`block_length`", "expected 4", "config.json", "found 8"}));
  o.block_length.reset();
  o.algorithm = "entropy_bounded";
  EXPECT_TRUE(fails_with<UsageError>([&] { block_options(config_of(Family::kSdar), o); },
                                     {"`algorithm`", "low_confidence_dynamic", "found \"entropy_bounded\""}));
  o.algorithm.reset();
  o.steps_per_block = 5;
  EXPECT_TRUE(fails_with<UsageError>([&] { check_options(block_options(config_of(Family::kSdar), o)); },
                                     {"`steps_per_block`", "expected 1 to 4", "found 5"}));
  o.steps_per_block.reset();
  o.sub_block_length = 3;
  EXPECT_TRUE(fails_with<UsageError>([&] { check_options(block_options(config_of(Family::kFastDllm), o)); },
                                     {"`sub_block_length`", "a divisor of `block_length` (4)", "found 3"}));
  o.schedule = "cosine";
  EXPECT_TRUE(
      fails_with<UsageError>([&] { wants_dllm_schedule(o); }, {"`schedule`", "quota, dllm", "cosine"}));
}

// Numbers of an observation would be wrong, or of forwards of which no reader knows: none are given.
TEST(BlockRefusals, AProbe) {
  model::Model model = model::Model::load(testing::family_folder("sdar-f32"));
  DecodeOptions o;
  o.mask_token = 75;
  o.max_new_tokens = 4;
  BlockMachine machine(std::vector<std::int32_t>{1, 2, 3}, block_options(model.config(), o),
                       model.new_cache());
  StepMachine* machines[] = {&machine};
  struct Nothing final : probe::Probe {
    probe::LayerRequest request(const probe::Address&, const probe::LayerExtent&) override { return {}; }
    void take(const probe::Address&, probe::LayerRecord&&) override {}
  } nothing;
  ThreadPool threads(1);
  EXPECT_TRUE(fails_with<UsageError>([&] { drive({threads}, model, machines, nullptr, &nothing); },
                                     {"observation", "block decoding"}));
}

}  // namespace
}  // namespace buoy::decode
