#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace buoy::analysis {

// One anchor followed over steps: it is born when a position enters the set with none leaving it to take over
// from, moves when one position leaves as another enters, and dies when its position leaves for good.
struct AnchorTrack {
  struct Stay {
    std::int32_t position, first, last;  // indices of steps, both included
  };
  std::vector<Stay> stays;

  std::int32_t birth() const { return stays.front().first; }
  std::int32_t death() const { return stays.back().last; }
  std::int64_t distance() const;  // moved in total
};

// From the set of every step, each ascending. Positions that leave and enter between two steps are paired
// nearest first. Tracks come in the order of birth, then of position.
std::vector<AnchorTrack> anchor_tracks(const std::vector<std::vector<std::int32_t>>& sets);

}  // namespace buoy::analysis
