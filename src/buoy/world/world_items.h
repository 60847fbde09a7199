#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "buoy/questions/item.h"
#include "buoy/world/world.h"
#include "buoy/world/world_noise.h"

namespace buoy::world {

struct WorldSetOptions {
  WorldPeople people = WorldPeople::kUnknown;
  std::uint32_t count = 500;
  std::uint32_t passages = 0;       // 0: closed book
  std::uint32_t gold_position = 0;  // counted from 1; 0: drawn for every item
  WorldNoise noise = WorldNoise::kRandom;
  bool two_hop = false;              // asks about the mentor or spouse; two gold passages, places drawn
  std::optional<size_t> relation{};  // nothing: drawn for every item
  std::uint64_t seed = 1;            // of the set; the people come from the world's own
};

// Questions about the people of a world with exact ground truth. Item i depends on the options and on i
// alone, so a longer set begins with the shorter one; sets that differ only in passages ask the same
// questions. Labels: kind (asked, read-only, unknown), relation, person, hops, and with passages noise.
// Throws UsageError for options that contradict each other.
std::vector<questions::Item> make_world_set(const World& world, const WorldSetOptions& options);

}  // namespace buoy::world
