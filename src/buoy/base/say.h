#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace buoy {

// Writes to standard error. A log that cannot be written (full disk, reader gone) never ends a run, so
// failures are ignored; fmt::print(stderr, ...) would throw.
void say_text(std::string_view text);

template <typename... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
  say_text(fmt::format(format, std::forward<Values>(values)...));
}

}  // namespace buoy
