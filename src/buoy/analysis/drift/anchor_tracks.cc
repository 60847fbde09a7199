#include "buoy/analysis/drift/anchor_tracks.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

namespace buoy::analysis {
namespace {

struct Pairing {
  std::int32_t distance, from, to;
  auto key() const { return std::tie(distance, from, to); }
};

std::vector<Pairing> nearest_first(const std::vector<std::int32_t>& leaving,
                                   const std::vector<std::int32_t>& entering) {
  std::vector<Pairing> pairs;
  for (const auto from : leaving) {
    for (const auto to : entering) pairs.push_back({std::abs(to - from), from, to});
  }
  std::sort(pairs.begin(), pairs.end(), [](const Pairing& a, const Pairing& b) { return a.key() < b.key(); });
  return pairs;
}

}  // namespace

std::int64_t AnchorTrack::distance() const {
  std::int64_t sum = 0;
  for (size_t i = 1; i < stays.size(); ++i) sum += std::abs(stays[i].position - stays[i - 1].position);
  return sum;
}

std::vector<AnchorTrack> anchor_tracks(const std::vector<std::vector<std::int32_t>>& sets) {
  std::vector<AnchorTrack> tracks;
  std::map<std::int32_t, size_t> alive;  // position: track
  for (size_t s = 0; s < sets.size(); ++s) {
    const auto step = static_cast<std::int32_t>(s);
    std::vector<std::int32_t> leaving, entering;
    for (const auto& [position, track] : alive) {
      if (!std::binary_search(sets[s].begin(), sets[s].end(), position)) leaving.push_back(position);
    }
    for (const auto position : sets[s]) {
      if (alive.contains(position))
        tracks[alive[position]].stays.back().last = step;
      else
        entering.push_back(position);
    }
    for (const auto& pair : nearest_first(leaving, entering)) {
      if (!alive.contains(pair.from) || alive.contains(pair.to)) continue;
      const size_t track = alive[pair.from];
      tracks[track].stays.push_back({pair.to, step, step});
      alive.erase(pair.from);
      alive[pair.to] = track;
    }
    for (const auto position : leaving) alive.erase(position);
    for (const auto position : entering) {
      if (alive.contains(position)) continue;
      alive[position] = tracks.size();
      tracks.push_back({{{position, step, step}}});
    }
  }
  return tracks;
}

}  // namespace buoy::analysis
