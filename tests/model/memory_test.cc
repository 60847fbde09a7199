// What a model needs to run, said before it runs.
#include "buoy/model/memory.h"

#include <gtest/gtest.h>

#include "buoy/base/error.h"
#include "buoy/benchmark/random_checkpoint.h"
#include "buoy/model/model.h"
#include "support/fails_with.h"
#include "support/family_case.h"
#include "support/golden.h"

namespace buoy::model {
namespace {

TEST(Memory, ParametersOfTheConfigAreThoseOfTheCheckpoint) {
  for (const char* name : {"llada-f32", "dream-f32", "llama3-f32", "llama31-bf16", "qwen2-f32",
                           "qwen2-tied-bf16", "qwen3-bf16"}) {
    const auto model = Model::load(testing::data_folder() / "goldens" / name);
    EXPECT_EQ(parameters_of(model.config()), model.checkpoint().parameters()) << name;
  }
}

TEST(Memory, ParametersOfExpertsAreThoseOfTheCheckpoint) {
  for (const std::string& name : testing::expert_cases()) {
    const auto model = Model::load(testing::family_folder(name));
    const std::uint64_t all = parameters_of(model.config());
    EXPECT_EQ(all, model.checkpoint().parameters()) << name;
    EXPECT_LT(active_parameters_of(model.config()), all) << name;
  }
}

// Sizes as published.
TEST(Memory, OfModelsWithExperts) {
  const auto qwen3 = benchmark::config_of(benchmark::qwen3_30b_a3b());
  EXPECT_EQ(parameters_of(qwen3), 30'532'122'624u);
  EXPECT_EQ(benchmark::random_checkpoint_bytes(benchmark::qwen3_30b_a3b()), 61'064'245'248u);
  const auto mini = benchmark::config_of(benchmark::llada2_mini());
  EXPECT_EQ(parameters_of(mini), 16'255'643'392u);
  EXPECT_EQ(benchmark::random_checkpoint_bytes(benchmark::llada2_mini()), 32'511'286'784u);
  // 1,432,879,104 in matrices, and norms and biases.
  const std::uint64_t vectors = 20 * (2 * 2048 + 2 * 128) + 2048 + 19 * 256;
  EXPECT_EQ(active_parameters_of(mini), 1'432'879'104u + vectors);
  // Room for one expert's rows, not for all.
  const auto few = memory_need(mini, {Device::kCpu, 64, 0}),
             many = memory_need(mini, {Device::kCpu, 1024, 0});
  EXPECT_EQ(few.weights, 2 * parameters_of(mini));
  EXPECT_GT(many.work, few.work);
  EXPECT_LT(many.work, std::uint64_t{2} << 30);
}

// A row has a place for each of its experts: an input, what is activated, and four numbers.
TEST(Memory, OfExpertsOnAGpu) {
  const auto mini = benchmark::config_of(benchmark::llada2_mini());
  auto without = mini;
  without.experts->chosen = 0;
  const MemoryCase of{Device::kCuda, 1024, 0};
  const auto rows = memory_need(mini, of).work - memory_need(without, of).work;
  EXPECT_EQ(rows, 1024u * 8 * (2 * (2048 + 512) + 4 * 4));
  EXPECT_EQ(memory_need(mini, of).weights, 2 * parameters_of(mini)) << "all experts lie on the card";
}

// LLaDA2.0-flash, 103B: 206 GB in bf16, more than any card of today has.
TEST(Memory, WhatIsTooLargeForACardIsRefusedWithTheNumbers) {
  auto shape = benchmark::llada2_mini();
  shape.hidden = 4096, shape.layers = 32, shape.heads = 32, shape.mlp_hidden = 9216,
  shape.expert_width = 1024;
  const auto flash = benchmark::config_of(shape), mini = benchmark::config_of(benchmark::llada2_mini());
  ASSERT_EQ(parameters_of(flash), 102'889'705'216u);
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  const MachineMemory card{"NVIDIA H200", 140 * kGiB, 139 * kGiB};
  const auto weights = [](const ModelConfig& c) { return memory_need(c, {Device::kCuda, 1024, 0}).weights; };
  EXPECT_TRUE(testing::fails_with<UsageError>(
      [&] { require_room(flash, weights(flash), card); },
      {"weights of LLaDA2MoeModelLM on NVIDIA H200", "191.65 GiB free", "102.9 billion parameters in bf16",
       "those of all experts", "found 139.00 GiB free of 140.00 GiB"}));
  EXPECT_NO_THROW(require_room(mini, weights(mini), card));
  EXPECT_TRUE(testing::fails_with<UsageError>(
      [&] {
        require_room(mini, weights(mini), {"a card", 40 * kGiB, 30 * kGiB});
      },
      {"30.00 GiB free of 40.00"}))
      << "others use the card, too";
  EXPECT_NO_THROW(require_room(mini, 30 * kGiB, {"a card", 40 * kGiB, 30 * kGiB}));
}

TEST(Memory, ACpuUsesWeightsAsTheyAreStoredAndAGpuHoldsBf16) {
  const auto model = Model::load(testing::data_folder() / "goldens" / "llada-f32");
  const auto& config = model.config();
  const std::uint64_t stored = model.checkpoint().weight_bytes(), parameters = parameters_of(config);
  EXPECT_EQ(stored, 4 * parameters);
  EXPECT_EQ(memory_need(config, {Device::kCpu, 256, stored}).weights, stored);
  EXPECT_EQ(memory_need(config, {Device::kCpu, 256, 0}).weights, 2 * parameters) << "without the weights";
  EXPECT_EQ(memory_need(config, {Device::kCuda, 256, stored}).weights, 2 * parameters);
  for (const auto device : {Device::kCpu, Device::kCuda}) {
    const auto few = memory_need(config, {device, 256, stored}),
               many = memory_need(config, {device, 4096, stored});
    EXPECT_GT(few.work, 0u);
    EXPECT_GT(many.work, few.work);
    EXPECT_EQ(many.all(), many.weights + many.work);
  }
}

// LLaDA-8B: about 16 GB of weights whatever the tests' models are like.
TEST(Memory, OfAnEightBillionModel) {
  ModelConfig c{};
  c.family = Family::kLlada;
  c.hidden = 4096, c.layers = 32, c.heads = c.kv_heads = 32, c.head_dim = 128, c.mlp_hidden = 12288;
  c.vocabulary = 126464;
  EXPECT_NEAR(static_cast<double>(parameters_of(c)), 8.02e9, 0.01e9);
}

}  // namespace
}  // namespace buoy::model
