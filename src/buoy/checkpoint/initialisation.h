#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace buoy {

// How common training code draws the matrices of a network: normal numbers, by what config.json states. Norms
// are 1 and biases 0 in all of them. docs/studies.md, controls.
enum class InitialScheme {
  kStated,    // of the deviation that `initializer_range` (transformers) or `init_std` states
  kMitchell,  // `init_fn` of LLaDA's code: 1/sqrt(inputs), what is added to the stream over sqrt(2 (layer +
              // 1))
  kFanIn,     // nothing is stated: as training/body.py: 1/sqrt(inputs), what is added to the stream over
              // sqrt(2 layers), the embedding 1
};

struct Initialisation {
  InitialScheme scheme = InitialScheme::kFanIn;
  double deviation = 0;  // of kStated
  std::uint64_t seed = 0;
};
Initialisation initialisation_of(const std::filesystem::path& folder, std::uint64_t seed);

// "untrained, normal weights of deviation 0.02, seed 1": for people, and what tells two of them apart.
std::string describe(const Initialisation& how);

}  // namespace buoy
