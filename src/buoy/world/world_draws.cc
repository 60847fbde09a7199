#include "buoy/world/world_draws.h"

#include <algorithm>

#include "buoy/base/error.h"
#include "buoy/base/random.h"

namespace buoy::world {

WorldDraws::WorldDraws(std::uint64_t seed, WorldStream stream, std::uint32_t thing, std::uint32_t part)
    : seed_(seed), stream_(static_cast<std::uint32_t>(stream)), thing_(thing), part_(part) {}

double WorldDraws::unit() {
  const auto words = philox(seed_, {next_++, part_, thing_, stream_});
  return static_cast<double>((std::uint64_t{words[0]} >> 5) << 26 | words[1] >> 6) * 0x1p-53;
}

std::uint32_t WorldDraws::below(std::uint32_t count) {
  BUOY_CHECK(count > 0);
  return std::min(count - 1, static_cast<std::uint32_t>(unit() * count));
}

}  // namespace buoy::world
