// Networks before training: made of a config and a seed alone.
#include "buoy/model/untrained.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "buoy/base/file/files.h"
#include "buoy/model/memory.h"
#include "buoy/model/model.h"
#include "support/fails_with.h"
#include "support/family_case.h"
#include "support/golden.h"
#include "support/temp_folder.h"

namespace buoy::model {
namespace {

std::filesystem::path golden(const std::string& name) {
  return testing::data_folder() / "goldens" / name;
}

struct Moments {
  double mean = 0, deviation = 0;
};
Moments moments_of(const Weight& weight) {
  std::vector<float> values(static_cast<std::size_t>(weight.size()));
  to_float(weight, 0, weight.size(), values.data());
  double sum = 0, squares = 0;
  for (const double v : values) sum += v, squares += v * v;
  const auto n = static_cast<double>(values.size());
  return {sum / n, std::sqrt(squares / n - sum / n * (sum / n))};
}

// Of n normal numbers a deviation errs by less than 5 / sqrt(2 n), a mean by less than 5 deviations /
// sqrt(n).
void expect_normal(const Weight& weight, double deviation, const char* what) {
  const auto found = moments_of(weight);
  const double n = static_cast<double>(weight.size());
  EXPECT_NEAR(found.deviation / deviation, 1, 5 / std::sqrt(2 * n) + 0.002) << what;
  EXPECT_LT(std::abs(found.mean), 5 * deviation / std::sqrt(n)) << what;
}

TEST(Untrained, WeightsAreDrawnByWhatTheConfigStates) {
  const auto config = read_config(golden("qwen2-f32"));
  const auto traits = traits_of(config.family);
  const auto c = [](std::int64_t x) { return static_cast<double>(x); };
  const auto stated = make_untrained(config, traits, {InitialScheme::kStated, 0.02, 1});
  expect_normal(stated.weights.embedding, 0.02, "embedding");
  expect_normal(stated.weights.layers[1].down, 0.02, "down");
  const auto fan_in = make_untrained(config, traits, {InitialScheme::kFanIn, 0, 1});
  expect_normal(fan_in.weights.embedding, 1, "embedding");
  expect_normal(fan_in.weights.layers[0].query, 1 / std::sqrt(c(config.hidden)), "query");
  expect_normal(fan_in.weights.layers[0].down, 1 / std::sqrt(c(config.mlp_hidden) * 2 * c(config.layers)),
                "down");
  const auto mitchell = make_untrained(config, traits, {InitialScheme::kMitchell, 0, 1});
  expect_normal(mitchell.weights.layers[0].down, 1 / std::sqrt(c(config.mlp_hidden) * 2), "first layer");
  expect_normal(mitchell.weights.layers[1].down, 1 / std::sqrt(c(config.mlp_hidden) * 4), "second layer");
  for (const auto* made : {&stated, &fan_in, &mitchell}) {
    const auto& layer = made->weights.layers[0];
    for (const float one : layer.attention_norm) EXPECT_EQ(one, 1.0f);
    ASSERT_FALSE(layer.query_bias.empty()) << "this family has biases";
    for (const float none : layer.query_bias) EXPECT_EQ(none, 0.0f);
  }
}

TEST(Untrained, TheConfigSaysHow) {
  const testing::TempFolder folder;
  const auto of = [&](const std::string& text) {
    folder.write("config.json", text);
    return describe(initialisation_of(folder.path(), 7));
  };
  EXPECT_EQ(of("{}"), "untrained, normal weights by fan-in, seed 7");
  EXPECT_EQ(of(R"({"initializer_range": 0.01})"), "untrained, normal weights of deviation 0.01, seed 7");
  EXPECT_EQ(of(R"({"init_std": 0.02, "init_fn": "normal"})"),
            "untrained, normal weights of deviation 0.02, seed 7");
  EXPECT_EQ(of(R"({"init_std": 0.02, "init_fn": "mitchell"})"),
            "untrained, normal weights by fan-in and layer (mitchell), seed 7");
  EXPECT_TRUE(testing::fails_with<InputError>([&] { of(R"({"initializer_range": -1})"); },
                                              {"initializer_range", "more than 0", "-1"}));
}

TEST(Untrained, OneSeedIsOneNetworkAndTensorsDiffer) {
  const auto config = read_config(golden("llada-f32"));
  const auto traits = traits_of(config.family);
  const auto make = [&](std::uint64_t seed) {
    return make_untrained(config, traits, {InitialScheme::kFanIn, 0, seed});
  };
  const auto bytes = [](const Weight& weight) {
    return std::string(reinterpret_cast<const char*>(weight.data),
                       2 * static_cast<std::size_t>(weight.size()));
  };
  const auto a = make(1), again = make(1), b = make(2);
  EXPECT_EQ(bytes(a.weights.head), bytes(again.weights.head));
  EXPECT_NE(bytes(a.weights.head), bytes(b.weights.head));
  EXPECT_NE(bytes(a.weights.layers[0].query), bytes(a.weights.layers[0].key));
  EXPECT_NE(bytes(a.weights.layers[0].query), bytes(a.weights.layers[1].query));
}

TEST(Untrained, RunsWithoutAFileOfWeightsInEveryFamily) {
  for (const char* name : {"llada-f32", "dream-f32", "llama31-bf16", "qwen2-tied-bf16", "qwen3-bf16"}) {
    const testing::TempFolder folder;
    std::filesystem::copy_file(golden(name) / "config.json", folder / "config.json");
    auto model = Model::untrained(folder.path(), 3);
    ASSERT_TRUE(model.initialisation()) << name;
    EXPECT_EQ(model.initialisation()->seed, 3u);
    EXPECT_EQ(model.stored_types(), "BF16");
    const std::vector<std::int32_t> tokens = {1, 2, 3, 4};
    const std::vector<std::int32_t> rows = {3};
    const std::vector<SequenceInput> inputs = {{tokens, rows}};
    ThreadPool threads(1);
    const float* logits = model.forward({threads}, inputs);
    double spread = 0;
    for (std::int64_t i = 0; i < model.config().vocabulary; ++i) {
      ASSERT_TRUE(std::isfinite(logits[i])) << name;
      spread = std::max(spread, std::abs(static_cast<double>(logits[i] - logits[0])));
    }
    EXPECT_GT(spread, 0) << name;
  }
}

TEST(Untrained, FamiliesWithExperts) {
  for (const std::string& name : testing::expert_cases()) {
    const testing::TempFolder folder;
    std::filesystem::copy_file(testing::family_folder(name) / "config.json", folder / "config.json");
    auto model = Model::untrained(folder.path(), 3);
    const auto stored = Model::load(testing::family_folder(name));
    const ModelConfig& config = model.config();
    const std::vector<std::int32_t> tokens = {1, 2, 3, 4}, rows = {3};
    const std::vector<SequenceInput> inputs = {{tokens, rows}};
    ThreadPool threads(1);
    const float* logits = model.forward({threads}, inputs);
    for (std::int64_t i = 0; i < config.vocabulary; ++i) ASSERT_TRUE(std::isfinite(logits[i])) << name;
    for (std::int64_t l = 0; l < config.layers; ++l) {
      const auto& made = model.weights().layers[static_cast<std::size_t>(l)];
      const auto& read = stored.weights().layers[static_cast<std::size_t>(l)];
      ASSERT_EQ(made.mixture.experts.size(), read.mixture.experts.size());
      EXPECT_EQ(made.mixture.bias.size(), read.mixture.bias.size());
      EXPECT_EQ(made.gate.empty(), read.gate.empty()) << name << l;
      if (!made.mixture.any()) continue;
      const auto &one = made.mixture.experts[0], &other = made.mixture.experts[1];
      EXPECT_EQ(one.down.shape, read.mixture.experts[0].down.shape);
      EXPECT_NE(std::memcmp(one.gate.data, other.gate.data, static_cast<std::size_t>(2 * one.gate.size())),
                0);
    }
  }
}

// One expert of a wide router, by the deviation that the layer's other matrices have.
TEST(Untrained, ExpertsAreDrawnLikeTheMlp) {
  auto config = read_config(testing::family_folder("qwen3-moe-f32"));
  config.experts->width = 256;
  const auto traits = traits_of(config.family);
  const auto made = make_untrained(config, traits, {InitialScheme::kFanIn, 0, 1});
  const auto& layer = made.weights.layers[2];
  const double hidden = static_cast<double>(config.hidden), layers = static_cast<double>(config.layers);
  expect_normal(layer.mixture.experts[3].up, 1 / std::sqrt(hidden), "up");
  expect_normal(layer.mixture.experts[3].down, 1 / std::sqrt(256 * 2 * layers), "down");
}

}  // namespace
}  // namespace buoy::model
