#pragma once

#include <span>
#include <vector>

#include "buoy/claims/claims.h"
#include "buoy/report/drawn_section.h"

namespace buoy::report {

// Networks as the unit: verdicts about kinds of models, every network a dot, and the table of their numbers.
struct NetworksPart {
  DrawnSection section;
  std::vector<Table> tables;
};

// `siblings` are numbers of networks that were measured elsewhere.
NetworksPart networks_part(std::span<const claims::ClaimVerdict> claims,
                           std::span<const claims::NetworkQuantity> siblings, FileNames& names);

}  // namespace buoy::report
