// An untrained network on the card: the weights of its seed, as on the CPU; the host gives its own back.

#include <gtest/gtest.h>

#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/benchmark/random_checkpoint.h"
#include "model/cuda_run.h"

namespace buoy {
namespace {

TEST(UntrainedCuda, ComputesWhatTheCpuDoes) {
  BUOY_NEEDS_GPU();
  const testing::TempFolder folder;
  benchmark::write_random_checkpoint(folder.path() / "model", benchmark::llada_small(), 3);
  std::filesystem::remove(folder.path() / "model" / "model.safetensors");  // the config is enough
  auto cpu = model::Model::untrained(folder.path() / "model", 5);
  auto gpu = model::Model::untrained(folder.path() / "model", 5, Device::kCuda);
  EXPECT_EQ(gpu.device(), Device::kCuda);
  testing::Ids tokens;
  for (std::int32_t i = 0; i < 70; ++i) tokens.push_back(i * 37 % 500);
  const testing::Ids rows = testing::all_rows(tokens.size());
  const std::vector<model::SequenceInput> inputs = {{tokens, rows}};
  ThreadPool threads(4);
  const auto run = [&](model::Model& model) {
    const float* logits = model.forward({threads}, inputs);
    return std::vector<float>(logits, logits + rows.size() * static_cast<size_t>(model.config().vocabulary));
  };
  // As far as networks of this size with trained weights differ (bf16 in between).
  EXPECT_LT(testing::relative_difference(run(gpu), run(cpu)), 0.02);
}

}  // namespace
}  // namespace buoy
