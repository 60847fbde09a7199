#include "buoy/base/file/json_file.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <set>
#include <utility>
#include <vector>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/lfs_pointer.h"
#include "buoy/base/utf8.h"

namespace buoy {
namespace {

constexpr int kDeepestNesting = 64;  // no checkpoint file goes past ten

// Refuses duplicate keys and absurd nesting while nlohmann parses.
class Guard {
 public:
  explicit Guard(const std::string& name) : name_(name) {}

  bool operator()(int depth, Json::parse_event_t event, Json& value) {
    const bool opens =
        event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
    if (depth + opens > kDeepestNesting) {
      throw_input_error(
          {name_, fmt::format("JSON nested at most {} deep", kDeepestNesting), "deeper nesting"});
    }
    if (event == Json::parse_event_t::object_start) {
      open_objects_.emplace_back();
    } else if (event == Json::parse_event_t::object_end) {
      open_objects_.pop_back();
    } else if (event == Json::parse_event_t::key) {
      const auto& key = value.get_ref<const std::string&>();
      if (!open_objects_.back().insert(key).second) {
        throw_input_error({name_, "each key once", fmt::format("key \"{}\" twice", key)});
      }
    }
    return true;
  }

 private:
  const std::string& name_;
  std::vector<std::set<std::string>> open_objects_;
};

std::string describe(const IntegerRange& range) {
  if (range.least == INT64_MIN && range.most == INT64_MAX) return "an integer";
  if (range.most == INT64_MAX) return fmt::format("an integer of at least {}", range.least);
  return fmt::format("an integer from {} to {}", range.least, range.most);
}

}  // namespace

Json parse_json(std::string_view text, const std::string& name) {
  try {
    return Json::parse(text.begin(), text.end(), Guard(name));
  } catch (const Json::exception& error) {
    throw_input_error({name, "valid JSON", error.what()});
  }
}

Json read_json_file(const std::filesystem::path& path, std::uintmax_t limit) {
  const std::string text = read_file(path, limit);
  if (is_lfs_pointer(text))
    throw_input_error({path.string(), "valid JSON", "a Git LFS pointer in place of it (git lfs pull)"});
  return parse_json(text, path.string());
}

std::string dump_json(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string dump_json(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string describe_json(const Json& json) {
  if (json.is_string()) {
    std::string text = json.get<std::string>();
    if (text.size() > 60) text = text.substr(0, first_invalid_utf8(text.substr(0, 57))) + "...";
    return fmt::format("text \"{}\"", text);
  }
  if (json.is_array()) return fmt::format("a list of {}", json.size());
  if (json.is_object()) return fmt::format("an object of {} fields", json.size());
  if (json.is_number()) return fmt::format("the number {}", json.dump());
  return dump_json(json);
}

std::int64_t checked_integer(const Json& value, const std::string& where, const IntegerRange& range) {
  // An unsigned value past the signed ones would wrap to a negative number.
  const bool fits =
      value.is_number_unsigned() ? value.get<std::uint64_t>() <= INT64_MAX : value.is_number_integer();
  const std::int64_t found = fits ? value.get<std::int64_t>() : 0;
  if (fits && found >= range.least && found <= range.most) return found;
  const bool unlimited = range.least == INT64_MIN && range.most == INT64_MAX;
  throw_input_error({where, unlimited && value.is_number_integer() ? "a 64-bit integer" : describe(range),
                     describe_json(value)});
}

JsonObject::JsonObject(const Json& json, std::string name) : json_(&json), name_(std::move(name)) {
  if (!json.is_object()) throw_input_error({name_, "a JSON object", describe_json(json)});
}

bool JsonObject::has(const std::string& key) const {
  return find(key) != nullptr;
}

const Json* JsonObject::find(const std::string& key) const {
  const auto found = json_->find(key);
  return found == json_->end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::int64_t> JsonObject::integer(const std::string& key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  return checked_integer(*value, fmt::format("{}: {}", name_, key), {});
}

std::optional<double> JsonObject::number(const std::string& key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) fail(key, "a number");
  return value->get<double>();
}

std::optional<bool> JsonObject::boolean(const std::string& key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) fail(key, "true or false");
  return value->get<bool>();
}

std::optional<std::string> JsonObject::text(const std::string& key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) fail(key, "text");
  return value->get<std::string>();
}

std::optional<JsonObject> JsonObject::object(const std::string& key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) fail(key, "an object");
  return JsonObject(*value, fmt::format("{}: {}", name_, key));
}

std::int64_t JsonObject::required_integer(const std::string& key, const IntegerRange& range) const {
  const Json* value = find(key);
  if (value == nullptr) fail(key, describe(range));
  return checked_integer(*value, fmt::format("{}: {}", name_, key), range);
}

double JsonObject::required_number(const std::string& key) const {
  const auto value = number(key);
  if (!value) fail(key, "a number");
  return *value;
}

std::string JsonObject::required_text(const std::string& key) const {
  auto value = text(key);
  if (!value) fail(key, "text");
  return *std::move(value);
}

void JsonObject::fail(const std::string& key, const std::string& expected) const {
  const Json* value = find(key);
  throw_input_error({fmt::format("{}: {}", name_, key), expected, value ? describe_json(*value) : "nothing"});
}

}  // namespace buoy
