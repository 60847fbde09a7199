#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "buoy/world/world2_items.h"

namespace buoy::world {

// The question sets of version 2 that training/export_world.cc writes and results are reported on, by name:
// "newest-5" asks about the newest of two records among five passages. Training looks at those that begin
// with "skill" and at no other; they have a seed of their own, so that they ask other questions.
std::map<std::string, World2SetOptions> world2_sets(std::uint64_t seed, std::uint32_t count);

}  // namespace buoy::world
