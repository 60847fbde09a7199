#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "buoy/base/file/json_file.h"
#include "buoy/text/tokenizer/vocabulary.h"

namespace buoy::text {

// A token matched as literal text before anything else is done to the text.
struct AddedToken {
  std::string content;
  std::int32_t id = 0;
  bool special = false;     // dropped by decode when special tokens are skipped
  bool normalized = false;  // looked for in the normalised text instead of the raw one
};

// A token id, checked for type and range. `where` names file and field.
std::int32_t parse_token_id(const Json& json, const std::string& where);

// The list "added_tokens" of a tokenizer.json.
std::vector<AddedToken> parse_added_tokens(const Json& list, const std::string& where);

// "added_tokens_decoder" of a tokenizer_config.json; empty when the file or the field is absent.
std::vector<AddedToken> read_config_added_tokens(const std::filesystem::path& folder);

// added_tokens.json, which gives content and id only; special are those that tokenizer_config.json names.
std::vector<AddedToken> read_added_tokens_file(const std::filesystem::path& folder);

// Adds the tokens not there yet. InputError naming `file` when one contradicts those that are.
void add_missing_tokens(std::vector<AddedToken>& tokens, std::span<const AddedToken> more,
                        const std::string& file);

// InputError naming `file` when contents or ids repeat or contradict the vocabulary.
void check_added_tokens(std::span<const AddedToken> tokens, const Vocabulary& vocabulary,
                        const std::string& file);

}  // namespace buoy::text
