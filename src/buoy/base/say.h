#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace buoy {

// How messages are worded: errors name fields of what was asked (field_name.h), and a program that has other
// names for them says here how they are replaced. Without: messages stay as they are.
using Wording = std::string (*)(const std::string& message);
void word_messages(Wording wording);
std::string worded(const std::string& message);

// Writes to standard error, worded. A log that cannot be written (full disk, reader gone) never ends a run,
// so failures are ignored; fmt::print(stderr, ...) would throw.
void say_text(std::string_view text);

template <typename... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
  say_text(fmt::format(format, std::forward<Values>(values)...));
}

}  // namespace buoy
