#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "buoy/text/chat/jinja/jinja_value.h"

namespace buoy::text::jinja {

// "%s of %d" % values. Knows %s, %d, %i and %%; refuses the rest.
std::string percent_format(Budget& budget, std::string_view format, const Values& values);

// "{} of {1} {name}".format(...). Refuses attributes, conversions and format specifications.
std::string brace_format(Budget& budget, std::string_view format, const Values& values,
                         const std::vector<std::pair<std::string, Value>>& named);

struct JsonRule {
  bool ensure_ascii = false;
  bool sort_keys = false;
  bool indented = false;
  std::string indent;  // of one level
  std::string item_separator = ", ", key_separator = ": ";
};

// As Python's json.dumps writes a value. Refuses what it refuses.
std::string json_text(Budget& budget, const Value& value, const JsonRule& rule);

std::string python_float(double value);  // its repr

}  // namespace buoy::text::jinja
