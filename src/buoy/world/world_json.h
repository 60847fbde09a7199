#pragma once

#include <string>

#include "buoy/base/file/json_file.h"
#include "buoy/world/world.h"

namespace buoy::world {

// Everything training needs: all words and wordings, the known people with their facts, which names are held
// out, the constants of the text, and in version 2 what world2_tables.h holds. training/README.md describes
// the fields.
Json world_tables_json(const World& world);

}  // namespace buoy::world
