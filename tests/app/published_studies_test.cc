// The studies for whoever has the weights: run to the end on tiny random stand-ins, and what `--check` says
// of models that are not there.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/pair.h"
#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/benchmark/random_checkpoint.h"
#include "buoy/study/study.h"
#include "support/fails_with.h"
#include "support/golden.h"
#include "support/hub_cache.h"
#include "support/temp_folder.h"

namespace buoy::testing {
namespace {

namespace fs = std::filesystem;

struct StandIn {
  const char* model;  // of the study
  Family family;
};

class PublishedStudies : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!study::can_read_studies()) GTEST_SKIP() << "built without toml++";
  }

  static fs::path study(const std::string& name) {
    return fs::canonical(data_folder() / "../../studies") / (name + ".toml");
  }

  // A network of two layers with random weights and the tokenizer of the natural pair.
  fs::path stand_in(const StandIn& of) const {
    const auto folder = folder_ / "stand-ins" / of.model;
    if (fs::exists(folder)) return folder;
    benchmark::write_random_checkpoint(folder, {of.family, 32, 2, 4, 2, 8, 48, 2048}, 1);
    const auto pair = fs::canonical(pair_folder(true).parent_path()) / "natural-diffusion";
    for (const char* file : {"tokenizer.json", "tokenizer_config.json"})
      fs::copy_file(pair / file, folder / file);
    return folder;
  }

  // The whole study with one question in every part.
  ProgramResult dry_run(const std::string& name, const std::vector<StandIn>& models) const {
    std::vector<std::string> words = {"study", study(name), "--out", folder_ / "out", "--limit", "1"};
    for (const auto& model : models) {
      words.emplace_back("--model");
      words.push_back(std::string(model.model) + "=" + stand_in(model).string());
    }
    return run_buoy(words, no_cache());
  }
  ProgramResult check(const std::string& name) const {
    return run_buoy({"study", study(name), "--check", "--device", "cpu", "--out", folder_ / "out"},
                    no_cache());
  }
  std::string no_cache() const { return "export HF_HUB_CACHE='" + (folder_ / "hub").string() + "'; "; }

  // Every trace and answer of these models is there, and the page.
  void expect_whole(const std::vector<StandIn>& models) const {
    EXPECT_TRUE(path_exists(folder_ / "out/report/report.html"));
    for (const char* trace : {"short", "long", "two-hop"}) {
      for (const auto& model : models) {
        const auto folder = folder_ / "out/traces" / (std::string(trace) + "." + model.model);
        const Json manifest = read_json_file(folder / "manifest.json");
        EXPECT_TRUE(manifest.at("complete").get<bool>()) << folder;
        EXPECT_EQ(manifest.at("samples").size(), 1u) << folder;
      }
    }
    for (const char* part : {"passages", "position", "noise"}) {
      const auto answers = read_file(folder_ / "out/evaluate" / part / "answers.jsonl");
      for (const auto& model : models)
        EXPECT_NE(answers.find('"' + std::string(model.model) + '"'), std::string::npos) << part;
    }
  }

  TempFolder folder_;
};

TEST_F(PublishedStudies, Qwen3ThreeWaysRunsOnStandIns) {
  const std::vector<StandIn> models = {
      {"autoregressive", Family::kQwen3}, {"mdlm", Family::kA2dQwen3}, {"bd3lm", Family::kA2dQwen3}};
  const auto run = dry_run("qwen3-three-ways", models);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  expect_whole(models);
}

TEST_F(PublishedStudies, SdarBlockLengthRunsOnStandIns) {
  const std::vector<StandIn> models = {{"b4", Family::kSdar},
                                       {"b8", Family::kSdar},
                                       {"b16", Family::kSdar},
                                       {"b32", Family::kSdar},
                                       {"b64", Family::kSdar}};
  const auto run = dry_run("sdar-block-length", models);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  expect_whole(models);
}

TEST_F(PublishedStudies, NemotronTwoReadingsRunsOnStandIns) {
  const StandIn one{"autoregressive", Family::kNemotron}, other{"diffusion", Family::kNemotron};
  const auto run = dry_run("nemotron-two-readings", {one, other});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  expect_whole({one, other});
}

TEST_F(PublishedStudies, CheckSaysWhatToDownloadAndWhatItTakes) {
  struct Said {
    const char* study;
    std::vector<std::string> lines;
  };
  for (const auto& [name, lines] : {
           Said{"qwen3-three-ways",
                {"download: Qwen/Qwen3-0.6B (autoregressive): about 1.50 GB, not in the cache",
                 "download: dllm-hub/Qwen3-0.6B-diffusion-mdlm-v0.1 (mdlm): about 1.50 GB",
                 "download: dllm-hub/Qwen3-0.6B-diffusion-bd3lm-v0.1 (bd3lm): about 1.50 GB",
                 "download: about 4.50 GB for 3 models to"}},
           Said{"sdar-block-length",
                {"download: JetLM/SDAR-1.7B-Chat (b4): about 4.06 GB", "download: JetLM/SDAR-1.7B-Chat-b64",
                 "download: about 20.32 GB for 5 models to"}},
           Said{"nemotron-two-readings",
                {"download: nvidia/Nemotron-Labs-Diffusion-3B (autoregressive, diffusion): about 7.66 GB",
                 "download: about 7.66 GB for 1 model to"}},
       }) {
    const auto run = check(name);
    EXPECT_EQ(run.exit_code, 3) << name << ": models are missing";
    EXPECT_EQ(run.out.find("not known"), std::string::npos) << run.out;
    EXPECT_EQ(run.out.find("at least"), std::string::npos) << "the config of every model is known";
    for (const auto& line : lines) EXPECT_NE(run.out.find(line), std::string::npos) << line << run.out;
    EXPECT_TRUE(holds_in_order(run.out, {"memory: ", "of weights taken for BF16", "disk: about",
                                         "time: about", "floating-point operations"}))
        << run.out;
    EXPECT_TRUE(holds_in_order(run.err, {"models.", "a model in the Hugging Face cache"})) << run.err;
    EXPECT_FALSE(path_exists(folder_ / "out"));
  }
}

TEST_F(PublishedStudies, CheckTellsWhatIsInTheCache) {
  const FakeHubCache cache(folder_ / "hub");
  const std::string commit(40, 'c');
  cache.add("models--dllm-hub--Qwen3-0.6B-diffusion-mdlm-v0.1", commit,
            stand_in({"mdlm", Family::kA2dQwen3}));
  cache.point("models--dllm-hub--Qwen3-0.6B-diffusion-mdlm-v0.1", "main", commit);
  const auto run = check("qwen3-three-ways");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_TRUE(holds_in_order(run.out, {"mdlm-v0.1 (mdlm): 0.00 GB, in the cache", "for 2 models to"}))
      << run.out;
  EXPECT_EQ(run.err.find("models.mdlm"), std::string::npos) << run.err;
}

TEST_F(PublishedStudies, ReplacedModelsAreThoseOfTheStudy) {
  const auto refused = [&](const std::vector<std::string>& more, const std::vector<std::string>& parts) {
    std::vector<std::string> words = {"study", study("qwen3-three-ways"), "--check"};
    words.insert(words.end(), more.begin(), more.end());
    const auto run = run_buoy(words, no_cache());
    EXPECT_EQ(run.exit_code, 2) << run.err;
    for (const auto& part : parts) EXPECT_NE(run.err.find(part), std::string::npos) << part << run.err;
  };
  refused({"--model", "mdlmm=/nowhere"}, {"--model", "autoregressive, mdlm, bd3lm", "mdlm?", "\"mdlmm\""});
  refused({"--model", "mdlm"}, {"--model", "NAME=FOLDER", "\"mdlm\""});
  refused({"--model", "mdlm="}, {"--model", "NAME=FOLDER", "\"mdlm=\""});
  refused({"--model", "mdlm=/a", "--model", "mdlm=/b"}, {"--model", "each model once", "\"mdlm\" twice"});
  const auto nowhere = run_buoy(
      {"study", study("qwen3-three-ways"), "--check", "--model", "mdlm=/nowhere/at/all"}, no_cache());
  EXPECT_EQ(nowhere.exit_code, 3);
  EXPECT_NE(nowhere.err.find("/nowhere/at/all"), std::string::npos) << nowhere.err;
}

}  // namespace
}  // namespace buoy::testing
