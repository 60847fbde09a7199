#include "buoy/text/tokenizer/json_fields.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/text/code_points.h"

namespace buoy::text {
namespace {

constexpr size_t kLongestText = 16;
constexpr size_t kMostMembers = 16;

}  // namespace

const Json& required(const JsonObject& object, const std::string& key, const std::string& expected) {
  const Json* value = object.find(key);
  if (value == nullptr) object.fail(key, expected);
  return *value;
}

JsonObject required_object(const JsonObject& object, const std::string& key) {
  return JsonObject(required(object, key, "an object"), fmt::format("{}: {}", object.name(), key));
}

bool required_boolean(const JsonObject& object, const std::string& key) {
  const auto value = object.boolean(key);
  if (!value) object.fail(key, "true or false");
  return *value;
}

std::string required_character(const JsonObject& object, const std::string& key) {
  std::string text = object.required_text(key);
  if (text.empty() || code_point_at(text, 0).length != text.size()) object.fail(key, "one character");
  return text;
}

void expect_type(const JsonObject& object, const std::string& type) {
  if (object.required_text("type") != type) object.fail("type", fmt::format("\"{}\"", type));
}

void expect_fields(const Json& json, const std::string& where,
                   std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : json.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw_input_error({fmt::format("{}: {}", where, key), "a field Buoy knows", describe_json(value)});
    }
  }
}

std::vector<JsonObject> members_of(const JsonObject& part, const std::string& list) {
  if (part.required_text("type") != "Sequence") return {part};
  const Json& members = required(part, list, "a list");
  if (!members.is_array() || members.size() > kMostMembers)
    part.fail(list, fmt::format("a list of {} at most", kMostMembers));
  std::vector<JsonObject> objects;
  for (size_t i = 0; i < members.size(); ++i)
    objects.emplace_back(members[i], fmt::format("{}: {}[{}]", part.name(), list, i));
  return objects;
}

std::string required_short_text(const JsonObject& object, const std::string& key) {
  std::string text = object.required_text(key);
  if (text.empty() || text.size() > kLongestText)
    object.fail(key, fmt::format("text of 1 to {} bytes", kLongestText));
  return text;
}

std::pair<std::string, std::string> parse_replacement(const JsonObject& replace) {
  return {required_short_text(required_object(replace, "pattern"), "String"),
          required_short_text(replace, "content")};
}

PrependScheme parse_prepend_scheme(const JsonObject& metaspace) {
  const auto scheme = metaspace.text("prepend_scheme");
  const bool never = !metaspace.boolean("add_prefix_space").value_or(true);
  if (never && scheme.value_or("never") != "never")
    metaspace.fail("prepend_scheme", "\"never\", as add_prefix_space is false");
  if (never || scheme == "never") return PrependScheme::kNever;
  if (scheme.value_or("always") == "always") return PrependScheme::kAlways;
  if (scheme != "first") metaspace.fail("prepend_scheme", "\"always\", \"first\" or \"never\"");
  return PrependScheme::kFirst;
}

}  // namespace buoy::text
