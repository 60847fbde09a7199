#pragma once

#include <array>
#include <cstdint>

namespace buoy {

// What a draw is for; part of its address. docs/randomness.md is the definition.
enum class DrawStream : std::uint32_t {
  kTokenNoise = 1,
  kRandomOrder = 2,
  kTransfer = 3,
  kTokenDraw = 4,
  kOrderNoise = 5,
  kWeights = 6,    // tiny random checkpoints and test data
  kBootstrap = 7,  // how often a sample enters a replicate
  kNoise = 8,      // which passages are put beside the gold one
  kHeads = 9,      // which heads are switched off as a control
  kColumns = 10,   // which columns of attention are hidden as a control
  kTasks = 11,     // which task a sample is said to belong to under the null
  kRouting = 12,   // which token's class a token is given under the null
};

struct DrawAddress {
  DrawStream stream;
  std::uint32_t step = 0;
  std::uint32_t position = 0;
  std::uint32_t index = 0;
};

// Philox4x32-10.
std::array<std::uint32_t, 4> philox(std::uint64_t seed, const std::array<std::uint32_t, 4>& counter);

// The draw at an address: a double in [0, 1). A pure function, so nothing has to be stored or ordered.
double uniform(std::uint64_t seed, const DrawAddress& address);

// -ln(-ln u); minus infinity for u = 0.
double gumbel(double u);

// A standard normal draw (Box-Muller on the four words of one address).
double normal(std::uint64_t seed, const DrawAddress& address);

}  // namespace buoy
