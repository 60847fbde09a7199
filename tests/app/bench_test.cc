// `buoy bench` on the CPU: what it writes, and what it refuses.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "support/golden.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

using testing::run_buoy;

void expect_positive(const Json& object, const std::vector<std::string>& keys) {
  for (const auto& key : keys) {
    ASSERT_TRUE(object.contains(key)) << key;
    EXPECT_GT(object.at(key).get<double>(), 0) << key;
  }
}

TEST(Bench, WritesWhatItPrints) {
  const testing::TempFolder scratch;
  const auto model = (testing::data_folder() / "goldens/llada-f32").string();
  const auto file = scratch / "bench.json";
  const auto run = run_buoy({"bench", "--device", "cpu", "--model", model, "--tokens", "40", "--packed",
                             "3x8", "--observe", "--threads", "2", "--json", file.string()});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const auto* part : {"matrix product", "1 x    40 tokens", "3 x     8 tokens", "tokens/s", "observed",
                           "held for two seconds"})
    EXPECT_NE(run.out.find(part), std::string::npos) << part << " not in: " << run.out;

  const Json json = read_json_file(file);
  EXPECT_FALSE(json.at("buoy").get<std::string>().empty());
  EXPECT_EQ(json.at("machine").at("device"), "cpu");
  EXPECT_EQ(json.at("machine").at("threads"), 2);
  EXPECT_FALSE(json.at("machine").at("cpu").get<std::string>().empty());
  expect_positive(json.at("limits"),
                  {"product_flops_per_second", "held_product_flops_per_second", "copy_bytes_per_second"});
  EXPECT_EQ(json.at("model").at("name"), model);
  EXPECT_EQ(json.at("model").at("family"), "LLaDA");
  EXPECT_EQ(json.at("model").at("random_weights"), false);
  expect_positive(json.at("model"), {"layers", "hidden", "weight_bytes"});
  const Json& steps = json.at("steps");
  ASSERT_EQ(steps.size(), 4u);
  for (size_t i = 0; i < steps.size(); ++i) {
    expect_positive(steps[i], {"seconds", "tokens_per_second", "flops_per_second", "share_of_product_rate",
                               "weight_share_of_copy_rate"});
    EXPECT_EQ(steps[i].at("sequences"), i < 2 ? 1 : 3);
    EXPECT_EQ(steps[i].at("tokens"), i < 2 ? 40 : 8);
    EXPECT_EQ(steps[i].at("observed"), i % 2 == 0 ? "" : "observed");
    EXPECT_EQ(steps[i].contains("cost_of_observing"), i % 2 == 1);
    EXPECT_TRUE(steps[i].contains("extra_bytes"));
  }
}

TEST(Bench, RandomWeightsOfAShape) {
  const auto run =
      run_buoy({"bench", "--device", "cpu", "--shape", "llada-small", "--layers", "1", "--tokens", "5"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("llada-small, random weights: 1 layers of 256"), std::string::npos) << run.out;
}

TEST(Bench, SavesItsRandomWeightsAsAModel) {
  const testing::TempFolder scratch;
  const auto save = [&](const std::string& folder, const std::string& layers) {
    return run_buoy({"bench", "--shape", "llada-small", "--layer-count", layers, "--save-model", folder});
  };
  const std::string model = scratch / "model", again = scratch / "again";
  const auto saved = save(model, "2");
  ASSERT_EQ(saved.exit_code, 0) << saved.err;
  EXPECT_NE(saved.out.find(model + ": random weights, "), std::string::npos) << saved.out;
  EXPECT_EQ(saved.out.find("tokens/s"), std::string::npos) << "nothing is measured";

  const auto inspected = run_buoy({"inspect", "--json", model});
  ASSERT_EQ(inspected.exit_code, 0) << inspected.err;
  EXPECT_NE(inspected.out.find("LLaDA"), std::string::npos) << inspected.out;
  const auto written =
      run_buoy({"generate", "--model", model, "--ids", "1,2,3", "--max-new-tokens", "4", "--json"});
  ASSERT_EQ(written.exit_code, 0) << written.err;
  EXPECT_EQ(Json::parse(written.out).at("ids").size(), 4u);

  // The same weights every time; and what is there already is not written over.
  ASSERT_EQ(save(again, "2").exit_code, 0);
  EXPECT_EQ(read_file(scratch / "again/model.safetensors"), read_file(scratch / "model/model.safetensors"));
  const auto refused = save(model, "1");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("--save-model: expected a new or empty folder"), std::string::npos)
      << refused.err;
  EXPECT_EQ(read_file(scratch / "again/model.safetensors"), read_file(scratch / "model/model.safetensors"));
  const auto deep = save(scratch / "deep", "13");
  EXPECT_EQ(deep.exit_code, 2);
  EXPECT_NE(deep.err.find("--layer-count"), std::string::npos) << deep.err;
  EXPECT_EQ(scratch.entries(), 2u) << "nothing of it is left";
}

TEST(Bench, RefusesByName) {
  const auto expect = [](std::vector<std::string> options, int code, const std::vector<std::string>& said) {
    options.insert(options.begin(), "bench");
    const auto run = run_buoy(options);
    EXPECT_EQ(run.exit_code, code) << run.err;
    for (const auto& part : said)
      EXPECT_NE(run.err.find(part), std::string::npos) << part << " not in: " << run.err;
  };
  expect({"--packed", "16"}, 2, {"--packed", "16x512", "\"16\""});
  expect({"--packed", "16x"}, 2, {"--packed", "\"16x\""});
  expect({"--packed", "0x512"}, 2, {"--packed", "\"0x512\""});
  expect({"--tokens", "0"}, 2, {"--tokens", "0"});
  expect({"--tokens", "many"}, 2, {"--tokens", "many"});
  expect({"--shape", "gpt-5"}, 2, {"--shape", "llada-8b", "gpt-5"});
  expect({"--layers", "13", "--device", "cpu", "--shape", "llada-small"}, 2, {"--layer-count", "12", "13"});
  expect({"--device", "tpu"}, 2, {"--device", "tpu"});
  expect({"--model", "/nowhere", "--shape", "llada-8b"}, 2, {"--model", "--shape"});
  expect({"--model", "/nowhere", "--save-model", "/nowhere"}, 2, {"--model", "--save-model"});
  expect({"--model", "/nowhere", "--device", "cpu"}, 3, {"/nowhere"});
}

}  // namespace
}  // namespace buoy
