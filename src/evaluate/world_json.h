#pragma once

#include <string>

#include "base/json_file.h"
#include "evaluate/world.h"

namespace buoy::evaluate {

// Everything training needs: all words and wordings, the known people with their facts, which names are held
// out, and the constants of the text. training/README.md describes the fields.
Json world_tables_json(const World& world);

}  // namespace buoy::evaluate
