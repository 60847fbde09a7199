#include "buoy/text/tokenizer/added_token.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"

namespace buoy::text {
namespace {

constexpr std::int64_t kHighestId = std::numeric_limits<std::int32_t>::max() - 1;
constexpr size_t kLongestContent = 1024;  // keeps the search for added tokens linear

std::string checked_content(std::string content, const std::string& where) {
  if (content.empty() || content.size() > kLongestContent) {
    throw_input_error({where, fmt::format("a token of 1 to {} bytes", kLongestContent),
                       fmt::format("{} bytes", content.size())});
  }
  return content;
}

AddedToken parse_fields(const JsonObject& object, std::int32_t id) {
  AddedToken token;
  token.id = id;
  token.content = checked_content(object.required_text("content"), object.name());
  token.special = object.boolean("special").value_or(false);
  token.normalized = object.boolean("normalized").value_or(!token.special);
  for (const char* flag : {"lstrip", "rstrip", "single_word"}) {
    if (object.boolean(flag).value_or(false)) object.fail(flag, "false; Buoy cannot match such tokens");
  }
  return token;
}

// Names of special tokens given in tokenizer_config.json beside added_tokens_decoder.
std::set<std::string> declared_special(const std::filesystem::path& folder) {
  std::set<std::string> names;
  const auto file = folder / "tokenizer_config.json";
  if (!path_exists(file)) return names;
  const auto take = [&](const Json& value) {
    if (value.is_string()) names.insert(value.get<std::string>());
    if (value.is_object() && value.contains("content") && value["content"].is_string()) {
      names.insert(value["content"].get<std::string>());
    }
  };
  const Json config = read_json_file(file);
  const JsonObject object(config, file.string());
  for (const char* key :
       {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"}) {
    if (const Json* value = object.find(key)) take(*value);
  }
  if (const Json* list = object.find("additional_special_tokens"); list != nullptr && list->is_array()) {
    for (const Json& value : *list) take(value);
  }
  return names;
}

}  // namespace

std::int32_t parse_token_id(const Json& json, const std::string& where) {
  const bool in_range = json.is_number_integer() && json.get<double>() >= 0 &&
                        json.get<double>() <= static_cast<double>(kHighestId);
  if (!in_range)
    throw_input_error({where, fmt::format("a token id from 0 to {}", kHighestId), describe_json(json)});
  return json.get<std::int32_t>();
}

std::vector<AddedToken> parse_added_tokens(const Json& list, const std::string& where) {
  if (!list.is_array()) throw_input_error({where, "a list", describe_json(list)});
  std::vector<AddedToken> tokens;
  for (const Json& item : list) {
    const JsonObject object(item, fmt::format("{}[{}]", where, tokens.size()));
    const Json* id = object.find("id");
    if (id == nullptr) object.fail("id", "a token id");
    tokens.push_back(parse_fields(object, parse_token_id(*id, object.name() + ": id")));
  }
  return tokens;
}

std::vector<AddedToken> read_config_added_tokens(const std::filesystem::path& folder) {
  std::vector<AddedToken> tokens;
  const auto file = folder / "tokenizer_config.json";
  if (!path_exists(file)) return tokens;
  const Json config = read_json_file(file);
  const JsonObject object(config, file.string());
  const Json* decoder = object.find("added_tokens_decoder");
  if (decoder == nullptr) return tokens;
  if (!decoder->is_object()) object.fail("added_tokens_decoder", "an object");
  for (const auto& [key, value] : decoder->items()) {
    const JsonObject entry(value, fmt::format("{}: added_tokens_decoder[\"{}\"]", file.string(), key));
    std::int32_t id = -1;
    const auto parsed = std::from_chars(key.data(), key.data() + key.size(), id);
    if (parsed.ec != std::errc() || parsed.ptr != key.data() + key.size() || id < 0 || id > kHighestId) {
      throw_input_error({entry.name(), "a token id as key", fmt::format("\"{}\"", key)});
    }
    tokens.push_back(parse_fields(entry, id));
  }
  std::sort(tokens.begin(), tokens.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return tokens;
}

std::vector<AddedToken> read_added_tokens_file(const std::filesystem::path& folder) {
  std::vector<AddedToken> tokens;
  const auto file = folder / "added_tokens.json";
  if (!path_exists(file)) return tokens;
  const Json json = read_json_file(file);
  const JsonObject object(json, file.string());
  const std::set<std::string> special = declared_special(folder);
  for (const auto& [content, id] : json.items()) {
    const std::string where = fmt::format("{}: \"{}\"", file.string(), content);
    tokens.push_back(
        {checked_content(content, where), parse_token_id(id, where), special.contains(content), false});
  }
  return tokens;
}

void add_missing_tokens(std::vector<AddedToken>& tokens, std::span<const AddedToken> more,
                        const std::string& file) {
  std::unordered_map<std::string, std::int32_t> ids;
  std::unordered_map<std::int32_t, std::string> contents;
  for (const AddedToken& token : tokens) {
    ids.emplace(token.content, token.id);
    contents.emplace(token.id, token.content);
  }
  for (const AddedToken& token : more) {
    const bool new_content = ids.emplace(token.content, token.id).second;
    const bool new_id = contents.emplace(token.id, token.content).second;
    if (new_content && new_id) {
      tokens.push_back(token);
    } else if (ids[token.content] != token.id || contents[token.id] != token.content) {
      throw_input_error({fmt::format("{}: added token \"{}\" with id {}", file, token.content, token.id),
                         "what the other tokenizer files say",
                         fmt::format("id {} of \"{}\" there", ids[token.content], contents[token.id])});
    }
  }
}

void check_added_tokens(std::span<const AddedToken> tokens, const Vocabulary& vocabulary,
                        const std::string& file) {
  std::unordered_set<std::string> contents;
  std::unordered_set<std::int32_t> ids;
  for (const AddedToken& token : tokens) {
    const std::string where = fmt::format("{}: added token \"{}\" with id {}", file, token.content, token.id);
    if (!contents.insert(token.content).second)
      throw_input_error({where, "each added token once", "a repetition"});
    if (!ids.insert(token.id).second) throw_input_error({where, "each added token id once", "a repetition"});
    const std::int32_t in_vocabulary = vocabulary.find_spelling(token.content);
    if (in_vocabulary >= 0 && in_vocabulary != token.id) {
      throw_input_error(
          {where, "the id it has in the vocabulary", fmt::format("id {} there", in_vocabulary)});
    }
    if (in_vocabulary < 0 && vocabulary.has(token.id)) {
      throw_input_error({where, "an id of its own", "an id the vocabulary uses for another token"});
    }
  }
}

}  // namespace buoy::text
