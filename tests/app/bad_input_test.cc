// What a user can get wrong, and what the program says: a message that names the thing, on stderr, and an
// exit code that tells usage (2) from files (3) from the machine (4).

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
namespace fs = std::filesystem;

std::string golden(const std::string& name) {
  return (testing::data_folder() / "goldens" / name).string();
}

void expect_failure(const std::vector<std::string>& call, int exit_code, const std::vector<std::string>& said,
                    const std::string& prelude = "") {
  const auto result = run_buoy(call, prelude);
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  EXPECT_EQ(result.out.find("\"ids\""), std::string::npos) << "output that looks complete";
  for (const auto& part : said)
    EXPECT_NE(result.err.find(part), std::string::npos) << part << " not in: " << result.err;
}

std::vector<std::string> generate(const std::string& folder, std::vector<std::string> more) {
  std::vector<std::string> call = {"generate", "--json", "--model", folder};
  call.insert(call.end(), more.begin(), more.end());
  return call;
}

TEST(BadInput, UsageIsExplained) {
  const auto llada = golden("llada-f32"), llama = golden("llama3-f32");
  expect_failure(generate(llada, {"--ids", "1,2", "--max-new-tokens", "0"}), 2,
                 {"max-new-tokens", "at least 1", "0"});
  expect_failure(
      generate(llada, {"--ids", "1,2", "--max-new-tokens", "8", "--block-length", "4", "--steps", "3"}), 2,
      {"steps", "multiple of the number of blocks (2)", "3"});
  expect_failure(generate(llada, {"--ids", "1,2", "--max-new-tokens", "8", "--block-length", "5"}), 2,
                 {"block-length", "divisor"});
  expect_failure(generate(llada, {"--ids", "1,2", "--top-p", "0.9"}), 2, {"--top-p", "Dream", "LLaDA"});
  expect_failure(generate(llama, {"--ids", "1,2", "--block-length", "8"}), 2,
                 {"--block-length", "LLaDA", "Llama"});
  expect_failure(generate(llada, {"--ids", "1,2", "--algorithm", "entropy"}), 2,
                 {"--algorithm", "low_confidence", "entropy"});
  expect_failure(generate(llada, {"--ids", "1,two"}), 2, {"--ids", "two"});
  expect_failure(generate(llada, {"--ids", "1,,2"}), 2, {"--ids"});
  expect_failure(generate(llada, {"--ids", "1,112"}), 2, {"token id", "0 to 111", "112"});
  expect_failure(generate(llada, {"--ids", "-1"}), 2, {"-1"});
  expect_failure(generate(llama, {"--ids", "1", "--temperature", "-1"}), 2, {"temperature"});
  // What would have no effect is a mistake.
  expect_failure(generate(llada, {"--ids", "1,2", "--system", "Be brief."}), 2, {"--system", "--ids"});
  for (const char* option : {"--limit", "--passages", "--gold-position", "--template", "--field"})
    expect_failure({"trace", "--model", llada, "--ids", "1,2", "--out", "x", option, "1"}, 2,
                   {option, "--data"});
  expect_failure({"generate", "--ids", "1"}, 2, {"--model"});
  expect_failure({"fly"}, 2, {});
  expect_failure({"forward", "--model", llada, "--ids", "1", "--out", "x.npz", "--dump", "logit"}, 2,
                 {"--dump", "logit"});
}

TEST(BadInput, FoldersAreExplained) {
  const TempFolder scratch;
  expect_failure(generate((scratch / "nothing").string(), {"--ids", "1"}), 3, {"nothing of that name"});
  expect_failure({"inspect", (scratch / "nothing").string()}, 3, {"nothing"});
  expect_failure(generate(golden("llada-f32"), {"--prompt", "hello"}), 3, {"tokenizer.json", "--ids"});

  const auto copy = [&](const std::string& name) {
    fs::copy(golden("llada-bf16"), scratch / name);
    return scratch / name;
  };
  const auto unknown = copy("unknown");
  Json config = read_json_file(unknown / "config.json");
  config["architectures"] = {"GPT2LMHeadModel"};
  write_file_atomically(unknown / "config.json", config.dump());
  expect_failure(generate(unknown.string(), {"--ids", "1"}), 3,
                 {"config.json", "architectures", "LLaDAModelLM", "GPT2LMHeadModel"});

  const auto cut = copy("cut");
  fs::resize_file(cut / "model.safetensors", fs::file_size(cut / "model.safetensors") - 10);
  expect_failure(generate(cut.string(), {"--ids", "1"}), 3, {"model.safetensors", "expected", "found"});

  const auto talk = copy("talk");
  fs::copy_file(testing::data_folder() / "text/tiny_tokenizer.json", talk / "tokenizer.json");
  expect_failure(generate(talk.string(), {"--prompt", "hi"}), 3, {"embedding", "299"});
}

TEST(BadInput, NotANumberInTheWeightsIsFoundAndNamed) {
  const TempFolder scratch;
  fs::copy(golden("llama3-f32"), scratch / "model");
  const auto path = scratch / "model" / "model.safetensors";
  std::string bytes = read_file(path);
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), 8);
  const Json json = Json::parse(bytes.substr(8, header));
  const std::string name = "model.layers.1.self_attn.k_proj.weight";
  const size_t at = 8 + header + json.at(name).at("data_offsets")[0].get<size_t>();
  const float nan = std::nanf("");
  std::memcpy(bytes.data() + at + 4 * 3, &nan, 4);
  write_file_atomically(path, bytes);
  expect_failure(generate((scratch / "model").string(), {"--ids", "1,2,3"}), 3, {"layer 1", name});
  const auto inspected = run_buoy({"inspect", "--check-weights", (scratch / "model").string()});
  EXPECT_NE(inspected.out.find(name), std::string::npos) << inspected.out;
}

// A tokenizer that Buoy does not know is named by the field, and ids work all the same.
TEST(BadInput, ARefusedTokenizerLeavesIds) {
  const TempFolder scratch;
  testing::write_talking_model(scratch / "model", true);
  const auto folder = (scratch / "model").string();
  Json tokenizer = read_json_file(scratch / "model" / "tokenizer.json");
  tokenizer["model"]["type"] = "Unigram";
  fs::remove(scratch / "model" / "tokenizer.json");
  write_file_atomically(scratch / "model" / "tokenizer.json", tokenizer.dump());
  expect_failure(generate(folder, {"--prompt", "hi"}), 3, {"tokenizer.json: model: type", "BPE", "Unigram"});
  const auto by_ids = run_buoy(generate(folder, {"--ids", "1,2,3"}));
  EXPECT_EQ(by_ids.exit_code, 0) << by_ids.err;
}

TEST(BadInput, TextThatIsNoText) {
  const TempFolder scratch;
  testing::write_talking_model(scratch / "model", true);
  const auto folder = (scratch / "model").string();
  expect_failure(generate(folder, {"--prompt", ""}), 2, {"prompt", "empty"});
  expect_failure(generate(folder, {"--prompt", "caf\xE9"}), 3, {"UTF-8", "3"});
  expect_failure(generate(folder, {"--prompt", "hi", "--chat"}), 3, {"chat"});
  expect_failure(generate(folder, {"--prompt", "hi", "--chat", "--chat-style", "klingon"}), 2,
                 {"--chat-style", "llada", "klingon"});
  expect_failure({"tokenize", "--model", folder}, 2, {"--prompt"});
  fs::remove(scratch / "model" / "tokenizer.json");
  write_file_atomically(scratch / "model" / "tokenizer.json", "{\"version\": ");
  expect_failure({"tokenize", "--model", folder, "--text", "hi"}, 3, {"tokenizer.json", "JSON"});
}

TEST(BadInput, OutputThatCannotBeWritten) {
  const TempFolder scratch;
  const auto folder = golden("llada-f32");
  write_file_atomically(scratch / "file", "x");
  expect_failure(
      {"forward", "--model", folder, "--ids", "1,2", "--out", (scratch / "file" / "f.npz").string()}, 4,
      {"f.npz", "cannot create"});
  expect_failure({"forward", "--model", folder, "--ids", "1,2", "--out", "/proc/f.npz"}, 4,
                 {"/proc/f.npz", "cannot create"});
  // A file-size limit stands in for a full disk: the write fails half-way.
  expect_failure({"forward", "--model", folder, "--ids", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20",
                  "--out", (scratch / "full.npz").string()},
                 4, {"full.npz"}, "ulimit -f 1; trap '' XFSZ; ");
  EXPECT_FALSE(fs::exists(scratch / "full.npz"));
}

}  // namespace
}  // namespace buoy
