#include "buoy/base/error.h"

#include <fmt/format.h>

#include <system_error>

namespace buoy {

std::string describe(const Mismatch& mismatch) {
  return fmt::format("{}: expected {}, found {}", mismatch.where, mismatch.expected, mismatch.found);
}

void throw_input_error(const Mismatch& mismatch) {
  throw InputError(describe(mismatch));
}

void throw_usage_error(const Mismatch& mismatch) {
  throw UsageError(describe(mismatch));
}

void throw_io_error(const std::string& action, const std::string& path, int error_number) {
  throw IoError(
      fmt::format("{}: cannot {}: {}", path, action, std::generic_category().message(error_number)));
}

}  // namespace buoy
