// Files in the place of weights that are none: every command that takes a model says so and ends with exit
// code 3, never by a signal.

#include <gtest/gtest.h>

#include "app/program.h"
#include "buoy/base/file/files.h"
#include "buoy/study/study.h"
#include "support/temp_folder.h"

namespace buoy {
namespace {

namespace fs = std::filesystem;
using std::string_literals::operator""s;
using testing::run_buoy;
using testing::TempFolder;

struct BadFile {
  const char* what;
  std::string bytes;
};

std::string with_header(std::uint64_t size, const std::string& header) {
  std::string bytes(8, '\0');
  for (int i = 0; i < 8; ++i) bytes[static_cast<size_t>(i)] = static_cast<char>(size >> (8 * i));
  return bytes + header;
}

std::vector<BadFile> bad_files() {
  const auto tensor = [](const std::string& name, const std::string& offsets, const std::string& shape) {
    return "\"" + name + R"(":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
  };
  const std::string overlap = "{" + tensor("a", "[0,8]", "[2]") + "," + tensor("b", "[4,12]", "[2]") + "}";
  const std::string twice = "{" + tensor("a", "[0,4]", "[1]") + "," + tensor("a", "[4,8]", "[1]") + "}";
  const std::string overflow = "{" + tensor("a", "[0,8]", "[4611686018427387904,4]") + "}";
  return {{"a Git LFS pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"},
          {"an empty file", ""},
          {"three bytes", "abc"},
          {"seven bytes", "\x01\0\0\0\0\0\0"s},
          {"a header longer than the file", with_header(1'000'000, "{}")},
          {"a header of all ones", with_header(~std::uint64_t{0}, "{}")},
          {"a length that wraps when eight is added", with_header(~std::uint64_t{0} - 4, "{}")},
          {"a header that is no JSON", with_header(4, "@@@@")},
          {"a page of HTML", "<!doctype html><title>404</title>"},
          {"overlapping tensors", with_header(overlap.size(), overlap + std::string(12, 'x'))},
          {"a tensor twice", with_header(twice.size(), twice + std::string(8, 'x'))},
          {"a shape that overflows", with_header(overflow.size(), overflow + std::string(8, 'x'))}};
}

class BadWeights : public ::testing::Test {
 protected:
  BadWeights() {
    testing::write_talking_model(model_, true);
    write_file_atomically(scratch_ / "q.jsonl", "{\"question\": \"who?\", \"answers\": [\"me\"]}\n");
    write_file_atomically(scratch_ / "s.toml",
                          "title = \"x\"\nout = \"" + (scratch_ / "study").string() + "\"\n[models]\nm = \"" +
                              model_.string() + "\"\n[[data]]\nname = \"q\"\nfile = \"" +
                              (scratch_ / "q.jsonl").string() +
                              "\"\n[[evaluate]]\nname = \"e\"\ndata = \"q\"\nclosed_book = true\n");
  }

  std::vector<std::vector<std::string>> calls() const {
    const std::string model = model_.string(), data = (scratch_ / "q.jsonl").string();
    const auto out = [&](const char* name) { return (scratch_ / name).string(); };
    std::vector<std::vector<std::string>> all = {
        {"inspect", model},
        {"inspect", (model_ / "model.safetensors").string()},
        {"generate", "--model", model, "--ids", "1,2"},
        {"forward", "--model", model, "--ids", "1,2", "--out", out("f.npz")},
        {"trace", "--model", model, "--ids", "1,2", "--out", out("t")},
        {"eval", "--model", "m=" + model, "--data", "q=" + data, "--closed-book", "--out", out("e")}};
    if (study::can_read_studies()) all.push_back({"study", (scratch_ / "s.toml").string()});
    return all;
  }

  const TempFolder scratch_;
  const fs::path model_ = scratch_ / "model";
};

TEST_F(BadWeights, AreNamedByEveryCommandThatTakesAModel) {
  for (const auto& file : bad_files()) {
    write_file_atomically(model_ / "model.safetensors", file.bytes);
    for (const auto& call : calls()) {
      SCOPED_TRACE(std::string(file.what) + ", " + call[0]);
      const auto run = run_buoy(call);
      EXPECT_EQ(run.exit_code, 3) << run.err;
      EXPECT_NE((run.out + run.err).find("model.safetensors"), std::string::npos) << run.out << run.err;
    }
  }
  const auto bench = run_buoy({"bench", "--model", model_.string(), "--tokens", "8"});  // seconds, so once
  EXPECT_EQ(bench.exit_code, 3) << bench.err;
  EXPECT_FALSE(fs::exists(scratch_ / "e" / "run.json")) << "no run of a model that is none";
}

TEST_F(BadWeights, AreFoundInOneShardOfMany) {
  fs::rename(model_ / "model.safetensors", model_ / "model-00001-of-00002.safetensors");
  for (const auto& [index, said] :
       {std::pair<std::string, std::string>{R"({"weight_map": {"a": "../../../etc/passwd"}})",
                                            "in the same folder"},
        {R"({"weight_map": {"a": "model-00002-of-00002.safetensors"}})", "not there"},
        {R"({"weight_map": {"a": "a", "a": "b"}})", "each key once"},
        {R"({"weight_map": []})", "weight_map"},
        {"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"},
        {"", "valid JSON"}}) {
    write_file_atomically(model_ / "model.safetensors.index.json", index);
    for (const auto& call : calls()) {
      if (call[0] == "inspect" && call[1].ends_with("model.safetensors")) continue;
      SCOPED_TRACE(index + ", " + call[0]);
      const auto run = run_buoy(call);
      EXPECT_EQ(run.exit_code, 3) << run.err;
      EXPECT_NE((run.out + run.err).find(said), std::string::npos) << run.out << run.err;
    }
  }
}

}  // namespace
}  // namespace buoy
