#include "buoy/base/environment_seconds.h"

#include <fmt/format.h>

#include <cstdlib>

#include "buoy/base/error.h"

namespace buoy {

double environment_seconds(const char* variable, double otherwise, double least, double most) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return otherwise;
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (*end != '\0' || !(value >= least && value <= most))
    throw_usage_error({variable, fmt::format("{} to {} seconds", least, most), text});
  return value;
}

}  // namespace buoy
