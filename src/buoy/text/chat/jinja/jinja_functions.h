#pragma once

#include <optional>
#include <string>

#include "buoy/text/chat/jinja/jinja_arguments.h"

namespace buoy::text::jinja {

std::optional<Function> find_function(const std::string& name);
Value call_function(Runtime& runtime, Function function, const Arguments& arguments);

}  // namespace buoy::text::jinja
