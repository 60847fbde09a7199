#include "buoy/text/tokenizer/special_tokens.h"

#include <nlohmann/json.hpp>

#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"

namespace buoy::text {
namespace {

// A token is text, or an object that holds it.
const Json* token_text(const Json& value) {
  if (value.is_string()) return &value;
  if (!value.is_object()) return nullptr;
  const auto content = value.find("content");
  return content != value.end() && content->is_string() ? &*content : nullptr;
}

void add_tokens(const Json& object, std::map<std::string, std::string>& tokens) {
  for (const auto& [name, value] : object.items()) {
    if (!name.ends_with("_token")) continue;
    if (const Json* text = token_text(value)) tokens[name] = text->get<std::string>();
  }
  const auto extra = object.find("extra_special_tokens");
  if (extra == object.end() || !extra->is_object()) return;
  for (const auto& [name, value] : extra->items()) {
    if (const Json* text = token_text(value)) tokens[name] = text->get<std::string>();
  }
}

}  // namespace

std::map<std::string, std::string> read_special_tokens(const std::filesystem::path& folder) {
  std::map<std::string, std::string> tokens;
  bool has_decoder = false;
  if (const auto file = folder / "tokenizer_config.json"; path_exists(file)) {
    const Json config = read_json_file(file);
    const JsonObject checked(config, file.string());
    add_tokens(config, tokens);
    has_decoder = checked.has("added_tokens_decoder");
  }
  if (const auto file = folder / "special_tokens_map.json"; !has_decoder && path_exists(file)) {
    const Json map = read_json_file(file);
    const JsonObject checked(map, file.string());
    add_tokens(map, tokens);
  }
  return tokens;
}

}  // namespace buoy::text
