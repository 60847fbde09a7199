#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "support/hub_cache.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

namespace fs = std::filesystem;
using testing::run_buoy;

constexpr char kFolder[] = "models--sea--buoy-tiny";
const std::string kCommit = "c0ffee" + std::string(34, '0');

class ModelByName : public ::testing::Test {
 protected:
  ModelByName() {
    testing::write_talking_model(scratch_ / "model", true);
    snapshot_ = cache_.add(kFolder, kCommit, scratch_ / "model");
    cache_.point(kFolder, "main", kCommit);
  }

  testing::ProgramResult run(const std::vector<std::string>& arguments) const {
    return run_buoy(arguments, "export HF_HUB_CACHE=" + (scratch_ / "hub").string() + "; ");
  }

  const testing::TempFolder scratch_;
  const testing::FakeHubCache cache_{scratch_ / "hub"};
  fs::path snapshot_;
};

TEST_F(ModelByName, EveryCommandTakesAnId) {
  for (const std::string model : {"sea/buoy-tiny", "sea/buoy-tiny@main", "sea/buoy-tiny@c0ffee"}) {
    EXPECT_EQ(run({"generate", "--model", model, "--ids", "1,2", "--max-new-tokens", "2"}).exit_code, 0)
        << model;
    EXPECT_EQ(run({"tokenize", "--model", model, "--text", "hi"}).exit_code, 0) << model;
    EXPECT_EQ(run({"inspect", model}).exit_code, 0) << model;
  }
  const auto out = (scratch_ / "pass.npz").string();
  EXPECT_EQ(run({"forward", "--model", "sea/buoy-tiny", "--ids", "1,2", "--out", out}).exit_code, 0);
  const auto miss = run({"generate", "--model", "sea/bouy-tiny", "--ids", "1", "--max-new-tokens", "1"});
  EXPECT_EQ(miss.exit_code, 3);
  EXPECT_NE(miss.err.find("sea/buoy-tiny"), std::string::npos) << miss.err;
}

TEST_F(ModelByName, TracesRunsAndInspectNameTheCommit) {
  const auto trace = (scratch_ / "trace").string();
  const auto traced =
      run({"trace", "--model", "sea/buoy-tiny", "--ids", "1,2,3", "--max-new-tokens", "2", "--out", trace});
  ASSERT_EQ(traced.exit_code, 0) << traced.err;
  const Json manifest = read_json_file(fs::path(trace) / "manifest.json");
  EXPECT_EQ(manifest["model"]["name"], "sea/buoy-tiny");
  EXPECT_EQ(manifest["model"]["commit"], kCommit);
  EXPECT_NE(run({"inspect", trace}).out.find(kCommit), std::string::npos);
  EXPECT_NE(run({"inspect", "sea/buoy-tiny"}).out.find(kCommit), std::string::npos);

  const auto report = (scratch_ / "report").string();
  const auto made = run({"report", trace, "--out", report});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_NE(read_file(fs::path(report) / "report.html").find(kCommit), std::string::npos);

  write_file_atomically(scratch_ / "q.jsonl", R"({"id": "1", "question": "Who?", "answers": ["A"]})"
                                              "\n");
  const auto out = (scratch_ / "run").string();
  const auto asked = run({"eval", "--model", snapshot_.string(), "--data", (scratch_ / "q.jsonl").string(),
                          "--closed-book", "--max-new-tokens", "2", "--out", out});
  ASSERT_EQ(asked.exit_code, 0) << asked.err;
  const Json record = read_json_file(fs::path(out) / "run.json");
  EXPECT_EQ(record["models"]["buoy-tiny"]["commit"], kCommit) << record["models"];
  EXPECT_NE(run({"inspect", out}).out.find(kCommit), std::string::npos);
}

TEST_F(ModelByName, AStudyNamesModelsByFolderOrId) {
  const auto check = [&](const std::string& model) {
    write_file_atomically(scratch_ / "study.toml", "title = \"t\"\nout = \"" + (scratch_ / "out").string() +
                                                       "\"\n[models]\ntiny = \"" + model +
                                                       "\"\n[[data]]\nname = \"d\"\nfile = \"q.jsonl\"\n"
                                                       "[[trace]]\nname = \"t\"\ndata = \"d\"\n");
    write_file_atomically(scratch_ / "q.jsonl", R"({"id": "1", "question": "Who?", "answers": ["A"]})"
                                                "\n");
    return run({"study", (scratch_ / "study.toml").string(), "--check"});
  };
  for (const std::string model : {"sea/buoy-tiny", "sea/buoy-tiny@c0ffee", "model"}) {
    const auto result = check(model);
    EXPECT_EQ(result.exit_code, 0) << model << result.err;
  }
  const auto miss = check("sea/bouy-tiny");
  EXPECT_EQ(miss.exit_code, 3);
  EXPECT_NE(miss.err.find("sea/buoy-tiny"), std::string::npos) << miss.err;
}

// A dangling link was an absent file: text was refused for a tokenizer that "is not there".
TEST_F(ModelByName, AModelInPartIsRefusedByTheFile) {
  fs::remove(cache_.repository(kFolder) / "blobs" / (kCommit + "-tokenizer.json"));
  const auto text = run({"generate", "--model", "sea/buoy-tiny", "--prompt", "hi", "--max-new-tokens", "1"});
  EXPECT_EQ(text.exit_code, 3);
  EXPECT_NE(text.err.find("tokenizer.json: expected"), std::string::npos) << text.err;
  EXPECT_NE(text.err.find("a link to"), std::string::npos) << text.err;
  fs::remove(cache_.repository(kFolder) / "blobs" / (kCommit + "-model.safetensors"));
  const auto weights = run({"generate", "--model", "sea/buoy-tiny", "--ids", "1", "--max-new-tokens", "1"});
  EXPECT_EQ(weights.exit_code, 3);
  EXPECT_NE(weights.err.find("model.safetensors"), std::string::npos) << weights.err;
}

class UnsupportedTokenizer : public ::testing::Test {
 protected:
  UnsupportedTokenizer() {
    testing::write_talking_model(scratch_ / "model", true);
    Json tokenizer = read_json_file(scratch_ / "model" / "tokenizer.json");
    tokenizer["model"]["type"] = "Unigram";
    write_file_atomically(scratch_ / "model" / "tokenizer.json", tokenizer.dump());
  }

  const testing::TempFolder scratch_;
  const std::string folder_ = (scratch_ / "model").string();
};

TEST_F(UnsupportedTokenizer, IdsNeedNone) {
  const auto ids = run_buoy({"generate", "--model", folder_, "--ids", "1,2", "--max-new-tokens", "2"});
  EXPECT_EQ(ids.exit_code, 0) << ids.err;
  EXPECT_NE(ids.err.find("not supported"), std::string::npos) << ids.err;
  const auto trace = run_buoy({"trace", "--model", folder_, "--ids", "1,2", "--max-new-tokens", "2", "--out",
                               (scratch_ / "trace").string()});
  EXPECT_EQ(trace.exit_code, 0) << trace.err;
  const auto pass =
      run_buoy({"forward", "--model", folder_, "--ids", "1,2", "--out", (scratch_ / "f.npz").string()});
  EXPECT_EQ(pass.exit_code, 0) << pass.err;
  const auto text = run_buoy({"generate", "--model", folder_, "--prompt", "hi", "--max-new-tokens", "2"});
  EXPECT_EQ(text.exit_code, 3);
  EXPECT_NE(text.err.find("Unigram"), std::string::npos) << text.err;
}

TEST_F(UnsupportedTokenizer, InspectSaysNotSupported) {
  const auto said = run_buoy({"inspect", folder_});
  EXPECT_EQ(said.exit_code, 0) << said.err;
  EXPECT_NE(said.out.find("not supported "), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("Unigram"), std::string::npos) << said.out;
  EXPECT_EQ(said.out.find("missing      " + folder_ + "/tokenizer.json"), std::string::npos) << said.out;
}

}  // namespace
}  // namespace buoy
