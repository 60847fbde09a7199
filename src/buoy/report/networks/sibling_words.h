#pragma once

#include <span>
#include <string>

#include "buoy/claims/quantities.h"

namespace buoy::report {

// "16 networks: causal-next (4), full-masked (4), ...": whose numbers come from elsewhere, by arm; "" if
// there are none.
std::string sibling_words(std::span<const claims::NetworkQuantity> siblings);

}  // namespace buoy::report
