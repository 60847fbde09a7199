#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/base/file/json_file.h"
#include "buoy/checkpoint/config.h"

namespace buoy::testing {

// A safetensors file in its two parts, so that either can be spoiled. Written without the code under test.
struct RawSafetensors {
  Json header = Json::object();
  std::string data;

  // The file; spaces pad the header until its length is `remainder` modulo 8.
  std::string bytes(size_t remainder = 0) const;
};

std::string raw_safetensors(std::string_view header, std::string_view data);

// Calling Json::dump in every test would compile its serializer there again.
std::string to_text(const Json& json);

struct TinyTensor {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::string bytes;
};

// A small valid checkpoint of any family, in memory: change what is to be wrong, then write it. Two
// layers, hidden 16, 4 query heads, 2 key/value heads (LLaDA: 4), vocabulary 32; Qwen3's head is tied.
class TinyCheckpoint {
 public:
  // dtype is "F32" or "BF16".
  explicit TinyCheckpoint(Family family, std::string_view dtype = "F32");

  Json config;  // config.json in the family's own spelling
  std::optional<Json> generation_config;
  std::vector<TinyTensor> tensors;

  TinyTensor& tensor(const std::string& name);
  void remove(const std::string& name);

  RawSafetensors raw() const;  // of all tensors

  void write_configs(const std::filesystem::path& folder) const;
  // The configs and one model.safetensors; see RawSafetensors::bytes for `header_remainder`.
  void write(const std::filesystem::path& folder, size_t header_remainder = 0) const;
  // The configs, model-0000N-of-0000M.safetensors with the tensors dealt out in turn, and the index.
  void write_sharded(const std::filesystem::path& folder, size_t shards) const;
  Json index(size_t shards) const;  // what write_sharded writes as model.safetensors.index.json
};

std::string shard_name(size_t number, size_t shards);  // shard_name(1, 2): "model-00001-of-00002.safetensors"

}  // namespace buoy::testing
