#include "buoy/world/world_noise.h"

#include <array>
#include <utility>

#include "buoy/base/error.h"

namespace buoy::world {
namespace {

constexpr std::array<std::pair<const char*, WorldNoise>, 7> kNoises = {{
    {"random", WorldNoise::kRandom},
    {"irrelevant", WorldNoise::kIrrelevant},
    {"same-relation", WorldNoise::kSameRelation},
    {"similar-name", WorldNoise::kSimilarName},
    {"contradiction", WorldNoise::kContradiction},
    {"shuffled", WorldNoise::kShuffled},
    {"repeated", WorldNoise::kRepeated},
}};

}  // namespace

std::string name_of(WorldNoise noise) {
  for (const auto& [name, value] : kNoises) {
    if (value == noise) return name;
  }
  return "?";
}

WorldNoise world_noise_from_name(const std::string& name) {
  std::string known;
  for (const auto& [spelling, value] : kNoises) {
    if (name == spelling) return value;
    known += (known.empty() ? "" : ", ") + std::string(spelling);
  }
  throw_usage_error({"noise", "one of " + known, '"' + name + '"'});
}

}  // namespace buoy::world
