#pragma once

#include "base/json_file.h"
#include "evaluate/item.h"

namespace buoy::evaluate {

// One line of Buoy's own JSON Lines: id, question, answers, passages (title, text, gold, where known also
// has_answer), labels, and the ready prompt where there is one.
Json item_json(const Item& item);

}  // namespace buoy::evaluate
