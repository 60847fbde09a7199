#pragma once

#include <cstddef>

#include "buoy/questions/item.h"

namespace buoy::questions {

// Splits the first gold passage at ends of sentences into `parts` passages of about equal length, all marked
// gold and with its title, and spreads them evenly over the places there are, in their order. InputError
// without a gold passage or with fewer sentences than parts.
void split_evidence(Item& item, std::size_t parts);

}  // namespace buoy::questions
