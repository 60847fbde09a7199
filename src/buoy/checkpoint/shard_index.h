#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "buoy/base/file/json_file.h"

namespace buoy {

// model.safetensors.index.json: tensor name to shard file name. Shard names must be plain file names, so
// that an index cannot point outside its folder.
std::map<std::string, std::string> parse_shard_index(const Json& json, const std::string& name);
std::map<std::string, std::string> read_shard_index(const std::filesystem::path& path);

}  // namespace buoy
