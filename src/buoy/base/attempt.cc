#include "buoy/base/attempt.h"

#include <new>

#include "buoy/base/error.h"

namespace buoy {

std::string reason_of(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "out of memory";
  const bool expected =
      dynamic_cast<const Error*>(&error) != nullptr && dynamic_cast<const InternalError*>(&error) == nullptr;
  return expected ? error.what() : std::string("a bug in Buoy, please report it: ") + error.what();
}

std::optional<std::string> attempt(const std::function<void()>& part) {
  try {
    part();
    return std::nullopt;
  } catch (const std::exception& error) {
    return reason_of(error);
  }
}

}  // namespace buoy
