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
using testing::TempFolder;

TEST(Inspect, SaysWhatAFolderHolds) {
  const auto folder = (testing::data_folder() / "goldens/qwen3-f32").string();
  const auto result = run_buoy({"inspect", "--json", folder});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json facts = Json::parse(result.out);
  EXPECT_EQ(facts["family"], "Qwen3");
  EXPECT_EQ(facts["decoding"], "autoregressive");
  EXPECT_EQ(facts["attention_mask"], "causal");
  EXPECT_EQ(facts["tied_head"], true);
  EXPECT_NE(facts["head_dim"].get<int>(), facts["hidden"].get<int>() / facts["heads"].get<int>());
  EXPECT_EQ(facts["problems"].size(), 1u) << "no tokenizer in that folder";
}

TEST(Inspect, SaysBlockLengthAndRuleOfModelsThatDecodeBlocks) {
  const auto facts_of = [](const char* name) {
    const auto folder = (testing::data_folder() / "families" / name).string();
    const auto result = run_buoy({"inspect", "--json", folder});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return Json::parse(result.out);
  };
  const Json sdar = facts_of("sdar-f32"), old = facts_of("sdar-old-config-f32"),
             a2d = facts_of("a2d-qwen3-f32");
  EXPECT_EQ(sdar["attention_mask"], "blocks");
  EXPECT_EQ(sdar["block_length"], 4);
  EXPECT_EQ(sdar["states_block_length"], true);
  EXPECT_FALSE(sdar.contains("decoding_rules"));
  EXPECT_EQ(old["block_length"], 4);
  EXPECT_EQ(old["states_block_length"], false);
  EXPECT_FALSE(a2d.contains("block_length"));
  EXPECT_EQ(a2d["decoding_rules"], Json({"mdlm", "bd3lm"}));
  const Json nemotron = facts_of("nemotron-f32");
  EXPECT_EQ(nemotron["decoding_rules"], Json({"diffusion", "autoregressive"}));
  EXPECT_EQ(nemotron["rope_scaling"], "yarn");
  EXPECT_EQ(nemotron["attention_mask"], "causal");
  EXPECT_FALSE(facts_of("open-dcoder-f32").contains("decoding_rules")) << "a Qwen2 as far as its config goes";
  const auto said = run_buoy({"inspect", (testing::data_folder() / "families/sdar-old-config-f32").string()});
  EXPECT_NE(said.out.find("4 positions (the config does not say"), std::string::npos) << said.out;
  const auto rule = run_buoy({"inspect", (testing::data_folder() / "families/a2d-qwen2-f32").string()});
  EXPECT_NE(rule.out.find("mdlm or bd3lm: the config does not say, --decoding-rule does\n"),
            std::string::npos)
      << rule.out;
  const auto two = run_buoy({"inspect", (testing::data_folder() / "families/nemotron-f32").string()});
  EXPECT_NE(
      two.out.find("diffusion or autoregressive: the config does not say, --decoding-rule does (default "
                   "diffusion)"),
      std::string::npos)
      << two.out;
  EXPECT_NE(two.out.find("on tiny random checkpoints (families/nemotron-*)"), std::string::npos) << two.out;
}

TEST(Inspect, SaysExpertsRouterAndActiveParameters) {
  const auto folder = [](const char* name) { return (testing::data_folder() / "families" / name).string(); };
  const auto llada2 = run_buoy({"inspect", folder("llada2-f32")});
  for (const char* part :
       {"LLaDA2 (LLaDA2MoeModelLM)", "3 of 8 for each token, width 8, a shared one of width 8",
        "1 layer without", "sigmoid, 2 of 4 groups", "times 2.5", "steers the choice alone"})
    EXPECT_NE(llada2.out.find(part), std::string::npos) << part << " not in: " << llada2.out;
  const auto qwen3 = run_buoy({"inspect", folder("qwen3-moe-f32"), "--json"});
  const Json json = parse_json(qwen3.out, "inspect");
  EXPECT_EQ(json.at("experts").at("count"), 8);
  EXPECT_EQ(json.at("experts").at("chosen"), 3);
  EXPECT_EQ(json.at("experts").at("dense_layers"), 1);
  EXPECT_EQ(json.at("experts").at("router"), "softmax, weights over their sum");
  EXPECT_LT(json.at("active_parameters").get<std::int64_t>(), json.at("parameters").get<std::int64_t>());
  EXPECT_FALSE(
      parse_json(run_buoy({"inspect", folder("sdar-f32"), "--json"}).out, "inspect").contains("experts"));
}

TEST(Inspect, ListsWhatIsMissingAndStillSaysTheRest) {
  const testing::TempFolder scratch;
  testing::write_talking_model(scratch / "model", true);
  std::filesystem::remove(scratch / "model" / "model.safetensors");
  const auto result = run_buoy({"inspect", (scratch / "model").string()});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.out.find("LLaDA"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("model.safetensors"), std::string::npos) << result.out;
}

TEST(Tokenize, IdsTokensAndSpans) {
  const testing::TempFolder scratch;
  testing::write_talking_model(scratch / "model", true);
  const auto folder = (scratch / "model").string();
  const std::string text = "floating tokens";
  const auto plain = run_buoy({"tokenize", "--model", folder, "--text", text});
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  const Json out = Json::parse(plain.out);
  ASSERT_EQ(out["ids"].size(), out["tokens"].size());
  EXPECT_EQ(out["ids"][0], 294) << "the post-processor's BOS";
  std::string joined;
  for (size_t i = 1; i < out["tokens"].size(); ++i) {
    const size_t begin = out["spans"][i][0], end = out["spans"][i][1];
    EXPECT_EQ(text.substr(begin, end - begin), out["tokens"][i].get<std::string>());
    joined += out["tokens"][i].get<std::string>();
  }
  EXPECT_EQ(joined, text);

  const auto chat =
      run_buoy({"tokenize", "--model", folder, "--text", "hi", "--chat", "--chat-style", "llada"});
  ASSERT_EQ(chat.exit_code, 0) << chat.err;
  EXPECT_EQ(Json::parse(chat.out)["ids"][0], 294);
  EXPECT_EQ(Json::parse(chat.out)["ids"][1], 297);
}

TEST(Inspect, SaysHowAFileOfQuestionsIsRead) {
  const TempFolder scratch;
  write_file_atomically(
      scratch / "q.jsonl",
      R"({"question": "Who?", "answers": ["A"], "ctxs": [{"title": "t", "text": "A.", "isgold": true}]})"
      "\n");
  const auto said = run_buoy({"inspect", (scratch / "q.jsonl").string()});
  ASSERT_EQ(said.exit_code, 0) << said.err;
  EXPECT_NE(said.out.find("ctxs"), std::string::npos) << said.out;
  write_file_atomically(scratch / "bad.jsonl", "no JSON\n");
  const auto bad = run_buoy({"inspect", (scratch / "bad.jsonl").string()});
  EXPECT_EQ(bad.exit_code, 3);
  EXPECT_NE(bad.err.find("bad.jsonl:1"), std::string::npos) << bad.err;
  EXPECT_EQ(run_buoy({"inspect", (scratch / "nothing").string()}).exit_code, 3);
}

}  // namespace
}  // namespace buoy
