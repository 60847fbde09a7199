#include "buoy/checkpoint/shard_index.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "buoy/base/error.h"

namespace buoy {

std::map<std::string, std::string> parse_shard_index(const Json& json, const std::string& name) {
  const JsonObject index(json, name);
  const Json* map = index.find("weight_map");
  if (map == nullptr || !map->is_object() || map->empty()) {
    index.fail("weight_map", "an object from tensor to file name");
  }
  std::map<std::string, std::string> files;
  for (const auto& [tensor, file] : map->items()) {
    if (!file.is_string()) {
      throw_input_error(
          {fmt::format("{}: weight_map: {}", name, tensor), "a file name", describe_json(file)});
    }
    const auto& shard = file.get_ref<const std::string&>();
    if (shard.empty() || shard.find('/') != std::string::npos || shard.find('\0') != std::string::npos ||
        !shard.ends_with(".safetensors")) {
      throw_input_error({fmt::format("{}: weight_map: {}", name, tensor),
                         "a .safetensors file in the same folder", describe_json(file)});
    }
    files[tensor] = shard;
  }
  return files;
}

std::map<std::string, std::string> read_shard_index(const std::filesystem::path& path) {
  return parse_shard_index(read_json_file(path), path.string());
}

}  // namespace buoy
