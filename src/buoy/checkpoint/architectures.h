#pragma once

#include <string_view>
#include <vector>

#include "buoy/checkpoint/config.h"

namespace buoy {

// What `architectures` of a config.json may say for a family.
std::vector<std::string_view> architectures_of(Family family);

}  // namespace buoy
