#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace buoy {

using Json = nlohmann::json;

// Files that look inside a Json include <nlohmann/json.hpp> themselves; it is too large for every header.

// Parses JSON and refuses what parsers usually let pass: duplicate keys, invalid UTF-8, trailing text.
// `name` is the file named in errors.
Json parse_json(std::string_view text, const std::string& name);
Json read_json_file(const std::filesystem::path& path, std::uintmax_t limit = std::uintmax_t{1} << 30);

// The integers a field may hold, both ends included.
struct IntegerRange {
  std::int64_t least = INT64_MIN;
  std::int64_t most = INT64_MAX;
};

// The integer that a JSON value holds. InputError when it holds none, or one outside the range: nothing is
// cut to a smaller width. `where` is the place named in errors: file, then field.
std::int64_t checked_integer(const Json& value, const std::string& where, const IntegerRange& range);

// Text of a value. Bytes that are not UTF-8 (names of files may have such) become U+FFFD; dump() of the
// library throws at them. `indent` -1: one line.
std::string dump_json(const Json& json, int indent = -1);
std::string dump_json(const nlohmann::ordered_json& json, int indent = -1);

// One JSON object of a named file. Getters check type and range; errors name file, field, expected, found.
// A field that is absent or null is "not given".
class JsonObject {
 public:
  JsonObject(const Json& json, std::string name);

  bool has(const std::string& key) const;
  const Json* find(const std::string& key) const;  // nullptr when absent or null

  std::optional<std::int64_t> integer(const std::string& key) const;
  std::optional<double> number(const std::string& key) const;
  std::optional<bool> boolean(const std::string& key) const;
  std::optional<std::string> text(const std::string& key) const;
  std::optional<JsonObject> object(const std::string& key) const;

  std::int64_t required_integer(const std::string& key, const IntegerRange& range = {}) const;
  double required_number(const std::string& key) const;
  std::string required_text(const std::string& key) const;

  const std::string& name() const { return name_; }
  [[noreturn]] void fail(const std::string& key, const std::string& expected) const;

 private:
  const Json* json_;
  std::string name_;
};

// "a number 3.5", "text \"abc\"", "a list of 3": for the `found` part of messages.
std::string describe_json(const Json& json);

}  // namespace buoy
