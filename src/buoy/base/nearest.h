#pragma once

#include <string>
#include <vector>

namespace buoy {

// The one that takes the fewest changed, missing, added or swapped letters, if that is less than half of
// them;
// "" when nothing is near.
std::string nearest(const std::string& word, const std::vector<std::string>& known);

}  // namespace buoy
