#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace buoy::text {

// The special tokens of a folder by their names ("bos_token", "eos_token", ...), as transformers hands them
// to chat templates: those of tokenizer_config.json; where that has no added_tokens_decoder, those of
// special_tokens_map.json before them.
std::map<std::string, std::string> read_special_tokens(const std::filesystem::path& folder);

}  // namespace buoy::text
