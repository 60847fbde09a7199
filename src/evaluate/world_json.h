#pragma once

#include <string>

#include "base/json_file.h"
#include "evaluate/world.h"

namespace buoy::evaluate {

// Everything training needs: all words and wordings, the known people with their facts, which names are held
// out, the constants of the text, and in version 2 what world2_tables.h holds. training/README.md describes
// the fields.
Json world_tables_json(const World& world);

}  // namespace buoy::evaluate
