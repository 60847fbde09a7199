#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "buoy/base/file/json_file.h"

namespace buoy::text {

// What the parts of a tokenizer.json have in common. Every function throws an InputError naming file and
// field for what it does not expect.

const Json& required(const JsonObject& object, const std::string& key, const std::string& expected);
JsonObject required_object(const JsonObject& object, const std::string& key);
bool required_boolean(const JsonObject& object, const std::string& key);
std::string required_character(const JsonObject& object, const std::string& key);  // one code point

void expect_type(const JsonObject& object, const std::string& type);
// No field beside those.
void expect_fields(const Json& json, const std::string& where, std::initializer_list<std::string_view> known);

// The members of a part whose type is "Sequence", from its field `list`; else the part alone.
std::vector<JsonObject> members_of(const JsonObject& part, const std::string& list);

// The fields "pattern", which must be literal text, and "content" of a Replace. Neither is empty or long.
std::pair<std::string, std::string> parse_replacement(const JsonObject& replace);
// Text that is not empty and not so long that pieces would grow without measure.
std::string required_short_text(const JsonObject& object, const std::string& key);

// Where a Metaspace puts its character before a piece: "prepend_scheme", in older files "add_prefix_space".
enum class PrependScheme { kAlways, kFirst, kNever };
PrependScheme parse_prepend_scheme(const JsonObject& metaspace);

}  // namespace buoy::text
