#pragma once

#include <string>
#include <string_view>

#include "buoy/text/chat/jinja/jinja_syntax.h"

namespace buoy::text::jinja {

// The statements of a template. InputError, with file and line, for what Buoy does not know.
Statements parse_template(std::string_view text, const std::string& name);

}  // namespace buoy::text::jinja
