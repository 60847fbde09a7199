#pragma once

#include "buoy/claims/kinds.h"

namespace buoy::claims {

// What the quantities over networks say of the claim together, as docs/verdicts.md has it. Groups of
// questions that could not be tested do not vote while others could.
Verdict kind_verdict(const ClaimRule& rule, std::span<const KindQuantity> quantities);

}  // namespace buoy::claims
