#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "buoy/text/chat/jinja/jinja_date.h"
#include "buoy/text/chat/jinja/jinja_value.h"

namespace buoy::text::jinja {

// What functions, methods, filters and tests may use beside their arguments.
struct Runtime {
  Budget& budget;
  Date date;
};

// The arguments of a call.
struct Arguments {
  Values placed;
  std::vector<std::pair<std::string, Value>> named;

  // One value for each parameter, by place or by name; null where it is not given. Refuses arguments that
  // belong to none, naming `callee`.
  std::vector<const Value*> bind(const std::string& callee,
                                 std::initializer_list<std::string_view> parameters) const;
};

}  // namespace buoy::text::jinja
