#pragma once

#include <string>
#include <vector>

#include "evaluate/world_items.h"

namespace buoy::app {

std::vector<std::string> world_people_names();
evaluate::WorldPeople world_people(const std::string& name);  // UsageError

}  // namespace buoy::app
