#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "buoy/base/file/files.h"
#include "buoy/base/file/gzip.h"
#include "buoy/base/file/json_file.h"
#include "support/golden.h"
#include "support/temp_folder.h"

namespace buoy::testing {

// tests/data/families, made by tools/goldens/make_families.py; FAMILIES.md there says what is in the files.
inline std::filesystem::path family_folder(const std::string& name) {
  return data_folder() / "families" / name;
}

// Those of the families that decode blocks with dense layers.
inline std::vector<std::string> dense_block_cases() {
  return {"a2d-qwen3-f32", "a2d-qwen3-bf16",      "a2d-qwen2-f32",
          "sdar-f32",      "sdar-old-config-f32", "fast-dllm-v2-f32"};
}

// Those with dense layers that are attended in blocks in some of their readings, or decoded as masks though
// their config says nothing of it.
inline std::vector<std::string> dense_family_cases() {
  auto cases = dense_block_cases();
  cases.insert(cases.end(), {"nemotron-f32", "nemotron-bf16", "open-dcoder-f32", "illada-f32"});
  return cases;
}

// Those with experts.
inline std::vector<std::string> expert_cases() {
  return {"qwen3-moe-f32", "qwen3-moe-bf16",     "qwen3-moe-stacked-f32", "mixtral-f32",
          "llada-moe-f32", "llada-moe-bias-f32", "sdar-moe-f32",          "rnd1-f32",
          "llada2-f32",    "llada2-bf16"};
}

// Those whose decoding runs are a matter of blocks, of masks, or of both readings of one model.
inline std::vector<std::string> decoding_cases() {
  auto cases = dense_family_cases();
  cases.insert(cases.end(), {"sdar-moe-f32", "rnd1-f32", "llada2-f32", "llada2-bf16"});
  return cases;
}

// Runs of decode.json.gz. A run without a choice has an infinite margin, which Python writes and JSON does
// not know.
inline Json read_family_runs(const std::string& name) {
  const auto path = family_folder(name) / "decode.json.gz";
  std::string text = read_plain_or_gzip(path);
  for (size_t at; (at = text.find(": Infinity")) != std::string::npos;) text.replace(at, 10, ": null");
  return parse_json(text, path.string());
}

// A copy of a case with some keys of its config set otherwise.
class ChangedFamily {
 public:
  ChangedFamily(const std::string& name, const Json& keys) {
    for (const auto& entry : std::filesystem::directory_iterator(family_folder(name)))
      std::filesystem::copy(entry.path(), folder_.path() / entry.path().filename());
    Json config = read_json_file(folder_.path() / "config.json");
    for (const auto& [key, value] : keys.items()) config[key] = value;
    std::filesystem::permissions(folder_.path() / "config.json", std::filesystem::perms::owner_all);
    std::ofstream(folder_.path() / "config.json") << config.dump();
  }

  const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  TempFolder folder_;
};

}  // namespace buoy::testing
