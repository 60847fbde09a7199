#include "trace/small_trace.h"

#include <fstream>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "buoy/base/sha256.h"
#include "buoy/trace/schema.h"

namespace buoy::testing {
namespace fs = std::filesystem;
using trace::Manifest;
using trace::Sample;

Manifest small_manifest(int samples, trace::Storage storage) {
  Manifest manifest;
  manifest.created_by = "buoy 0.1.0";
  manifest.command = "buoy trace --model tiny --data questions.jsonl --out out";
  manifest.machine = "a test";
  manifest.model = {.name = "tiny",
                    .family = "LLaDA",
                    .architecture = "LLaDAModelLM",
                    .stored_dtype = "F32",
                    .layers = 2,
                    .heads = 4,
                    .kv_heads = 2,
                    .head_dim = 4,
                    .hidden = 16,
                    .vocabulary = 32,
                    .config_sha256 = sha256_hex("config"),
                    .weights_sha256 = sha256_hex("weights")};
  manifest.tokenizer_sha256 = sha256_hex("tokenizer");
  manifest.decoding = R"({"steps": 4, "temperature": 0.1, "order": "low_confidence"})";
  manifest.probe = R"({"observe": ["received", "entropy"], "layers": [0, 1], "steps": [0, 2]})";
  manifest.storage = storage;
  manifest.seed = 18446744073709551615u;
  for (int i = 0; i < samples; ++i) manifest.sample_ids.push_back("sample-" + std::to_string(i));
  return manifest;
}

Sample small_sample(int number) {
  const std::int64_t steps = 2, layers = 2, groups = 2, heads = 4, tokens = 5 + number;
  Sample sample;
  sample.id = "sample-" + std::to_string(number);
  std::vector<std::int32_t> ids(static_cast<size_t>(tokens));
  std::iota(ids.begin(), ids.end(), number);
  std::vector<std::uint8_t> regions(static_cast<size_t>(tokens), 1);
  regions.front() = 0;
  regions.at(static_cast<size_t>(tokens) - 1) = trace::kNoRegion;
  std::vector<float> received(static_cast<size_t>(steps * layers * groups * heads * tokens));
  for (size_t i = 0; i < received.size(); ++i) received[i] = static_cast<float>(i % 97) / 64;
  const std::vector<std::int32_t> group_sizes = {2, 3 + number, 4, 1 + number};
  sample.arrays.push_back(trace::byte_array(trace::kRegionOfToken, {tokens}, regions));
  sample.arrays.push_back(trace::integer_array(trace::kTokens, {tokens}, ids));
  sample.arrays.push_back(trace::integer_array(trace::kSteps, {steps}, std::vector<std::int32_t>{0, 2}));
  sample.arrays.push_back(trace::integer_array(trace::kLayers, {layers}, std::vector<std::int32_t>{0, 1}));
  sample.arrays.push_back(
      trace::float_array(trace::kReceived, {steps, layers, groups, heads, tokens}, received));
  sample.arrays.push_back(trace::integer_array(trace::kGroupSizes, {steps, groups}, group_sizes));
  std::vector<std::string> texts;
  for (const auto id : ids) texts.push_back("<" + std::to_string(id) + "> \xC3\xA9");
  sample.metadata = {{"question", "Wo treibt die Boje? \xF0\x9F\x9B\x9F"},
                     {"prompt_length", "3"},
                     {"token_texts", trace::format_text_list(texts)},
                     {"region_names", R"(["bos","query"])"},
                     {"group_names", R"(["masked","unmasked"])"}};
  return sample;
}

void write_rest(trace::TraceWriter& writer, const Manifest& manifest) {
  for (size_t i = 0; i < manifest.sample_ids.size(); ++i) {
    if (!writer.has(manifest.sample_ids[i])) writer.write(small_sample(static_cast<int>(i)));
  }
  writer.finish();
}

void write_whole(const fs::path& folder, const Manifest& manifest) {
  auto writer = trace::TraceWriter::create(folder, manifest);
  write_rest(writer, manifest);
}

std::map<std::string, std::string> snapshot(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_directory()) files[entry.path().lexically_relative(folder).string()] = slurp(entry.path());
  }
  return files;
}

::testing::AssertionResult same_files(const std::map<std::string, std::string>& found,
                                      const std::map<std::string, std::string>& expected) {
  for (const auto& [name, bytes] : expected) {
    const auto other = found.find(name);
    if (other == found.end()) return ::testing::AssertionFailure() << name << " is missing";
    if (other->second != bytes) return ::testing::AssertionFailure() << name << " differs";
  }
  for (const auto& [name, bytes] : found) {
    if (!expected.contains(name)) return ::testing::AssertionFailure() << name << " should not be there";
  }
  return ::testing::AssertionSuccess();
}

std::string slurp(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

void spill(const fs::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
}

void edit(const fs::path& path, const std::string& from, const std::string& to) {
  std::string text = slurp(path);
  const size_t at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error(path.string() + " does not hold " + from);
  spill(path, text.replace(at, from.size(), to));
}

}  // namespace buoy::testing
