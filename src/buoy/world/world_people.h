#pragma once

#include <string>
#include <vector>

#include "buoy/world/world_items.h"

namespace buoy::world {

std::vector<std::string> world_people_names();
WorldPeople world_people(const std::string& name);  // UsageError

}  // namespace buoy::world
