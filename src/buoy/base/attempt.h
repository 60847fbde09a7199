#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>

namespace buoy {

// What a reader is told of an error: its text. A broken promise inside Buoy is called a bug, and so is
// whatever Buoy does not throw itself.
std::string reason_of(const std::exception& error);

// Runs one part of a whole that must be finished without it if need be, and returns why it failed; nothing
// when it did not.
std::optional<std::string> attempt(const std::function<void()>& part);

}  // namespace buoy
