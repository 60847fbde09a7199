#pragma once

namespace buoy {

// A number of seconds that a variable of the environment sets; `otherwise` where it is not set or empty.
// UsageError when it is no number from `least` to `most`.
double environment_seconds(const char* variable, double otherwise, double least, double most);

}  // namespace buoy
