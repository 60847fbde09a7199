#pragma once

#include <string>

namespace buoy::world {

// What stands beside the gold passage of a world's item.
enum class WorldNoise {
  kRandom,         // biographies of other people; the asked relation may occur
  kIrrelevant,     // the same, but none of them speaks of the asked relation
  kSameRelation,   // every one states the asked relation, of another person
  kSimilarName,    // the same, and each of those people shares the first or the family name
  kContradiction,  // one of them states another value for the asked person; the rest is random
  kShuffled,       // random ones with their words shuffled
  kRepeated,       // one random biography, again and again
};

std::string name_of(WorldNoise noise);
WorldNoise world_noise_from_name(const std::string& name);  // throws UsageError

}  // namespace buoy::world
