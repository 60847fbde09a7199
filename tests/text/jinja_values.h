#pragma once

#include <nlohmann/json.hpp>

#include "buoy/text/chat/jinja/jinja_template.h"

namespace buoy::text {

// What a template sees of a JSON value.
inline jinja::Value value_from_json(const nlohmann::ordered_json& json) {
  jinja::Budget budget{jinja::Limits{}};
  if (json.is_null()) return jinja::Value();
  if (json.is_boolean()) return jinja::Value(json.get<bool>());
  if (json.is_number_integer()) return jinja::Value(json.get<std::int64_t>());
  if (json.is_number()) return jinja::Value(json.get<double>());
  if (json.is_string()) return jinja::make_text(budget, json.get<std::string>());
  if (json.is_array()) {
    jinja::Values items;
    for (const auto& item : json) items.push_back(value_from_json(item));
    return jinja::make_list(budget, std::move(items));
  }
  std::vector<std::pair<jinja::Value, jinja::Value>> entries;
  for (const auto& [key, value] : json.items())
    entries.emplace_back(jinja::make_text(budget, key), value_from_json(value));
  return jinja::make_dict(budget, std::move(entries));
}

}  // namespace buoy::text
