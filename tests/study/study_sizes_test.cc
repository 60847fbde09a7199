// What a study will write, known from configs and what it expects of its data.

#include "buoy/study/study_sizes.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "buoy/base/file/files.h"
#include "buoy/study/study.h"
#include "buoy/study/study_check.h"
#include "support/temp_folder.h"

namespace buoy::study {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const fs::path kRoot = fs::path(BUOY_TEST_DATA).parent_path().parent_path();

// The sizes of the four published checkpoints, in configs of tiny models of their families.
void write_configs(const testing::TempFolder& folder) {
  const auto put = [&](const std::string& name, const std::string& like, const Json& sizes) {
    Json config = Json::parse(read_file(fs::path(BUOY_TEST_DATA) / "goldens" / like / "config.json"));
    config.update(sizes);
    fs::create_directories(folder / "checkpoints" / name);
    folder.write("checkpoints/" + name + "/config.json", config.dump());
  };
  put("LLaDA-8B-Instruct", "llada-f32",
      {{"d_model", 4096},
       {"n_layers", 32},
       {"n_heads", 32},
       {"n_kv_heads", 32},
       {"mlp_hidden_size", 12288},
       {"vocab_size", 126464},
       {"embedding_size", 126464},
       {"max_sequence_length", 4096},
       {"mask_token_id", 126336},
       {"eos_token_id", 126081},
       {"pad_token_id", 126081}});
  const Json qwen = {{"hidden_size", 3584},
                     {"intermediate_size", 18944},
                     {"num_attention_heads", 28},
                     {"num_hidden_layers", 28},
                     {"num_key_value_heads", 4},
                     {"vocab_size", 152064},
                     {"max_position_embeddings", 32768},
                     {"max_window_layers", 28}};
  Json dream = qwen;
  dream["mask_token_id"] = 151666;
  put("Dream-v0-Instruct-7B", "dream-f32", dream);
  put("Llama-3.1-8B-Instruct", "llama31-f32",
      {{"hidden_size", 4096},
       {"intermediate_size", 14336},
       {"num_attention_heads", 32},
       {"num_hidden_layers", 32},
       {"num_key_value_heads", 8},
       {"vocab_size", 128256},
       {"max_position_embeddings", 131072},
       {"head_dim", 128}});
  put("Qwen2.5-7B-Instruct", "qwen2-f32", qwen);
}

TEST(StudySizes, ThePublishedStudyFitsOnALaptopAndNeedsConfigsAloneToSayIt) {
  if (!can_read_studies()) GTEST_SKIP() << "built without toml++";
  const testing::TempFolder folder;
  fs::create_directory(folder / "studies");
  const auto file = folder.write("studies/paper.toml", read_file(kRoot / "studies/paper.toml"));
  write_configs(folder);
  auto study = read_study(file);
  study.out = folder / "out";
  const StudyPlan plan(std::move(study));
  const auto findings = examine(plan, Device::kCpu);
  for (const auto& problem : findings.problems) {
    const bool missing = problem.find("found neither") != std::string::npos ||
                         problem.find("a file of questions") != std::string::npos;
    EXPECT_TRUE(missing) << problem;
  }
  std::uint64_t traced = 0, tables = 0, compact = 0;
  for (const auto& part : findings.parts) {
    EXPECT_TRUE(part.known) << part.name;
    if (!part.level) continue;
    traced += part.questions;
    tables += part.of_level.at(trace::Level::kTables);
    compact += part.of_level.at(trace::Level::kCompact);
    EXPECT_LT(part.of_level.at(trace::Level::kTables), part.of_level.at(trace::Level::kCompact));
    EXPECT_LT(part.of_level.at(trace::Level::kCompact), part.of_level.at(trace::Level::kFull));
  }
  EXPECT_EQ(traced, 2000u) << "a quarter of them once more: the controls";
  EXPECT_GT(findings.missing_bytes(), tables) << "answers come on top";
  EXPECT_LT(findings.missing_bytes(), 20'000'000'000u);
  EXPECT_LT(compact, 20'000'000'000u);
  const auto text = describe(findings, plan);
  for (const char* column : {"keep", "as_tables", "as_compact", "as_full"})
    EXPECT_NE(text.find(column), std::string::npos) << text;
}

TEST(StudySizes, PromptsHaveAboutAsManyTokensAsAStudyExpects) {
  for (const std::int64_t tokens : {400, 1000, 3000}) {
    const auto data = expected_data({.questions = 7, .passages = 10, .prompt_tokens = tokens});
    EXPECT_EQ(data.count, 7u);
    const run::Prompter prompter("shared-passages", {}, ".", std::nullopt);
    const auto made = std::ssize(prompter.prompt(data.sample[0]).prompt.ids);
    EXPECT_NEAR(static_cast<double>(made), static_cast<double>(tokens), 0.1 * static_cast<double>(tokens));
  }
}

TEST(StudySizes, ExpectBelongsToAFile) {
  if (!can_read_studies()) GTEST_SKIP() << "built without toml++";
  const testing::TempFolder folder;
  const auto file = folder.write(
      "s.toml",
      "[models]\nm = \"m\"\n[[data]]\nname = \"a\"\nworld = { count = 3 }\nexpect = { questions = 3 }\n"
      "[[data]]\nname = \"b\"\nfile = \"b.jsonl\"\nexpect = { questions = 0, prompt_token = 4 }\n"
      "[[trace]]\nname = \"t\"\ndata = \"a\"\n");
  std::string all;
  for (const auto& problem : read_study_and_problems(file).problems) all += problem + "\n";
  for (const char* said : {"s.toml:6", "with a file only", "questions", "prompt_token"})
    EXPECT_NE(all.find(said), std::string::npos) << said << " is not in\n" << all;
}

}  // namespace
}  // namespace buoy::study
