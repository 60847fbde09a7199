// The program's decoding options mean what they say: every golden run comes out of `buoy generate` too.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/program.h"
#include "support/decode_case.h"
#include "support/family_case.h"
#include "support/golden.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

using testing::run_buoy;

std::vector<std::string> arguments_of(const std::filesystem::path& folder, const testing::DecodeCase& run) {
  std::vector<std::string> arguments = {"generate", "--json",
                                        "--model",  folder.string(),
                                        "--ids",    fmt::format("{}", fmt::join(run.prompt, ","))};
  const std::map<std::string, std::string> flags = {{"max_new_tokens", "--max-new-tokens"},
                                                    {"steps", "--steps"},
                                                    {"block_length", "--block-length"},
                                                    {"algorithm", "--algorithm"},
                                                    {"temperature", "--temperature"},
                                                    {"top_p", "--top-p"},
                                                    {"top_k", "--top-k"},
                                                    {"alg_temp", "--alg-temp"},
                                                    {"eps", "--eps"},
                                                    {"cfg_scale", "--cfg-scale"},
                                                    {"repetition_penalty", "--repetition-penalty"},
                                                    {"seed", "--seed"},
                                                    {"eos_token_id", "--eos-token-id"},
                                                    {"mask_token_id", "--mask-token-id"},
                                                    {"eot_token_id", "--eot-token-id"}};
  for (const auto& [key, value] : run.options.items()) {
    if (value.is_null()) continue;
    if (key == "eos_token_ids") {
      // An empty list means "never stop": an id the run does not write.
      arguments.push_back("--eos-token-id");
      arguments.push_back(value.empty() ? "0"
                                        : fmt::format("{}", fmt::join(value.get<std::vector<int>>(), ",")));
    } else if (value.is_boolean()) {
      if (value.get<bool>())
        arguments.push_back(key == "logits_eos_inf" ? "--logits-eos-inf" : "--confidence-eos-eot-inf");
    } else {
      arguments.push_back(flags.at(key));
      arguments.push_back(value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  return arguments;
}

TEST(Generate, EveryGoldenRunThroughTheCommandLine) {
  for (const std::string name : {"llada-f32", "dream-f32", "llama31-bf16", "qwen2-f32", "qwen3-f32"}) {
    const auto folder = testing::data_folder() / "goldens" / name;
    for (const auto& run : testing::read_decode_cases(folder)) {
      SCOPED_TRACE(name + " " + run.name);
      const std::vector<std::int32_t> ids(run.row.begin() + static_cast<std::ptrdiff_t>(run.prompt.size()),
                                          run.row.end());
      if (run.options.contains("eos_token_ids") && run.options["eos_token_ids"].empty() &&
          std::find(ids.begin(), ids.end(), 0) != ids.end()) {
        continue;  // would stop at the stand-in end token
      }
      const auto result = run_buoy(arguments_of(folder, run));
      ASSERT_EQ(result.exit_code, 0) << result.err;
      const Json out = Json::parse(result.out);
      EXPECT_EQ(out["ids"].get<std::vector<std::int32_t>>(), ids);
      EXPECT_EQ(out["revealed_at"].get<std::vector<std::int32_t>>(), run.revealed_at);
    }
  }
}

std::vector<std::string> family_arguments(const std::filesystem::path& folder, const Json& run, bool a2d) {
  std::vector<std::string> arguments = {
      "generate", "--json",
      "--model",  folder.string(),
      "--ids",    fmt::format("{}", fmt::join(run.at("prompt_ids").get<std::vector<int>>(), ","))};
  const std::map<std::string, std::string> flags = {{"max_new_tokens", "--max-new-tokens"},
                                                    {"mask_token_id", "--mask-token-id"},
                                                    {"seed", "--seed"},
                                                    {"block_length", "--block-length"},
                                                    {"small_block_length", "--sub-block-length"},
                                                    {"steps", "--steps"},
                                                    {"denoising_steps", "--steps-per-block"},
                                                    {"temperature", "--temperature"},
                                                    {"threshold", "--threshold"},
                                                    {"cfg_scale", "--cfg-scale"},
                                                    {"schedule", "--schedule"},
                                                    {"top_p", "--top-p"},
                                                    {"steps_per_block", "--steps-per-block"},
                                                    {"minimal_topk", "--minimal-topk"},
                                                    {"editing_threshold", "--editing-threshold"},
                                                    {"max_post_steps", "--max-post-steps"},
                                                    {"num_to_transfer", "--num-to-transfer"},
                                                    {"repeat_penalty", "--repeat-penalty"},
                                                    {"entropy_bound", "--entropy-bound"},
                                                    {"algorithm", "--algorithm"},
                                                    {"alg_temp", "--alg-temp"},
                                                    {"eps", "--eps"}};
  const auto add = [&](const std::string& flag, const std::string& value) {
    arguments.push_back(flag);
    arguments.push_back(value);
  };
  const std::string loop = run.at("loop");
  const Json& options = run.at("options");
  if (a2d || (loop != "mdlm" && loop != "sdar" && loop != "fast_dllm" && loop != "rnd1"))
    add("--decoding-rule", loop == "nemotron" ? "diffusion" : loop);
  for (const auto& [key, value] : options.items()) {
    if (value.is_null() || key == "greedy" || key == "bound_order") continue;
    if (loop == "autoregressive" && key == "mask_token_id") continue;  // there is none
    if (key == "steps" && loop == "llada2") {
      add("--steps-per-block", value.dump());
    } else if (key == "temperature" && options.value("greedy", false)) {
      add("--entropy-temperature", value.dump());
    } else if (key == "eos_token_id") {
      add("--eos-token-id", value.dump());
    } else if (key == "causal_context") {
      if (!value.get<bool>()) arguments.push_back("--bidirectional-context");
    } else if (key == "eos_early_stop") {
      if (value.get<bool>()) arguments.push_back("--eos-early-stop");
    } else if (key == "stop_token_ids") {
      add("--eos-token-id", fmt::format("{}", fmt::join(value.get<std::vector<int>>(), ",")));
    } else if (key == "remasking") {
      const std::string order = value;
      add("--algorithm", loop == "sdar" && order != "sequential" ? "low_confidence_" + order : order);
    } else if (key == "top_k") {
      if (value != 0) add("--top-k", value.dump());
    } else if (value.is_boolean()) {
      if (value.get<bool>()) arguments.push_back(key == "right_shift" ? "--shifted-rows" : "--block-cache");
    } else {
      add(flags.at(key), value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  return arguments;
}

TEST(Generate, EveryRunOfBlockDecodingThroughTheCommandLine) {
  int compared = 0;
  for (const auto& name : testing::decoding_cases()) {
    for (const Json& run : testing::read_family_runs(name)) {
      SCOPED_TRACE(name + " " + run.at("name").get<std::string>());
      if (run.at("options").contains("stop_token_ids") && run.at("options")["stop_token_ids"].empty())
        continue;  // the program takes the config's
      const testing::ChangedFamily changed(name, run.value("config", Json::object()));
      const auto result = run_buoy(family_arguments(changed.folder(), run, name.starts_with("a2d")));
      if (run.at("ids").empty()) {
        // Published code writes nothing then.
        EXPECT_EQ(result.exit_code, 2);
        EXPECT_NE(result.err.find("--max-new-tokens: expected at least 8"), std::string::npos) << result.err;
        continue;
      }
      ASSERT_EQ(result.exit_code, 0) << result.err;
      const Json out = Json::parse(result.out);
      EXPECT_EQ(out["ids"], run.at("ids"));
      auto revealed = run.at("revealed_at").get<std::vector<std::int32_t>>();
      revealed.resize(out["ids"].size());
      EXPECT_EQ(out["revealed_at"].get<std::vector<std::int32_t>>(), revealed);
      ++compared;
    }
  }
  EXPECT_GT(compared, 40);
}

TEST(Generate, TextInTextOut) {
  const testing::TempFolder scratch;
  for (const bool diffusion : {true, false}) {
    const auto folder = scratch / (diffusion ? "llada" : "llama");
    testing::write_talking_model(folder, diffusion);
    const std::vector<std::string> call = {"generate",         "--model", folder.string(), "--prompt",
                                           "What floats?",     "--chat",  "--chat-style",  "llada",
                                           "--max-new-tokens", "8",       "--json"};
    const auto first = run_buoy(call), second = run_buoy(call);
    ASSERT_EQ(first.exit_code, 0) << first.err;
    EXPECT_EQ(first.out, second.out);
    const Json out = Json::parse(first.out);
    EXPECT_TRUE(out["text"].is_string());
    EXPECT_LE(out["ids"].size(), 8u);
    EXPECT_EQ(out["ids"].size(), out["revealed_at"].size());
  }
}

TEST(Generate, ThreadsChangeNothing) {
  const auto folder = (testing::data_folder() / "goldens/llada-bf16").string();
  const auto call = [&](const char* threads) {
    return run_buoy({"generate", "--model", folder, "--ids", "1,2,3,4", "--max-new-tokens", "24", "--steps",
                     "12", "--temperature", "0.9", "--seed", "5", "--json", "--threads", threads});
  };
  const auto one = call("1"), three = call("3");
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(one.out, three.out);
}

}  // namespace
}  // namespace buoy
