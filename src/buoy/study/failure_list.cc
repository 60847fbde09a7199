#include "buoy/study/failure_list.h"

#include <fmt/format.h>

#include "buoy/base/say.h"

namespace buoy::study {

void print_failures(const std::vector<Failure>& failures, const std::string& where) {
  constexpr std::size_t kShown = 20;
  if (failures.empty()) return;
  fmt::print("{} failed:\n", failures.size());
  for (std::size_t i = 0; i < failures.size() && i < kShown; ++i)
    fmt::print("  {}: {}\n", failures[i].what, worded(failures[i].reason));
  if (failures.size() > kShown) fmt::print("  and {} more, listed in {}\n", failures.size() - kShown, where);
}

}  // namespace buoy::study
