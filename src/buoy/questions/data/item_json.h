#pragma once

#include "buoy/base/file/json_file.h"
#include "buoy/questions/item.h"

namespace buoy::questions {

// One line of Buoy's own JSON Lines: id, question, answers, passages (title, text, gold, where known also
// has_answer), labels, and the ready prompt where there is one.
Json item_json(const Item& item);

}  // namespace buoy::questions
