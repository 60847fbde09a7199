#include "buoy/base/stopwatch.h"

#include <fmt/format.h>

#include <algorithm>

namespace buoy {

void Stopwatch::add(const std::string& name, double seconds, bool inside) {
  const auto at = std::find_if(parts_.begin(), parts_.end(), [&](const Part& p) { return p.name == name; });
  if (at == parts_.end()) {
    parts_.push_back({name, seconds, inside});
  } else {
    at->seconds += seconds;
  }
}

void Stopwatch::lap(const std::string& part) {
  const auto now = Clock::now();
  add(part, std::chrono::duration<double>(now - last_).count(), false);
  last_ = now;
}

void Stopwatch::within(const std::string& part, double seconds) {
  add(part, seconds, true);
}

std::string Stopwatch::describe() const {
  std::string out;
  double all = 0;
  for (const auto& part : parts_) {
    if (part.inside) {
      out += fmt::format(" (of this, {} {:.3f} s)", part.name, part.seconds);
      continue;
    }
    out += fmt::format("{}{} {:.3f} s", out.empty() ? "" : ", ", part.name, part.seconds);
    all += part.seconds;
  }
  return out + fmt::format("; {:.3f} s in all", all);
}

}  // namespace buoy
