#pragma once

#include <string>
#include <vector>

namespace buoy::study {

// Something of a run that could not be done, and why.
struct Failure {
  std::string what, reason;
};

// Names the failures of a run at its end, the first ones in full; `where` says where all of them are.
void print_failures(const std::vector<Failure>& failures, const std::string& where);

}  // namespace buoy::study
