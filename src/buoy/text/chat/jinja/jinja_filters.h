#pragma once

#include <string>

#include "buoy/text/chat/jinja/jinja_arguments.h"

namespace buoy::text::jinja {

struct FilterCall {
  Runtime& runtime;
  const std::string& name;
  const Value& input;
  const Arguments& arguments;

  std::vector<const Value*> bind(std::initializer_list<std::string_view> parameters) const {
    return arguments.bind("filter " + name, parameters);
  }
};

using Filter = Value (*)(const FilterCall&);

// By its name; null when Buoy does not know it.
Filter find_filter(const std::string& name);

// The two halves of the list.
Filter find_text_filter(const std::string& name);
Filter find_item_filter(const std::string& name);

}  // namespace buoy::text::jinja
