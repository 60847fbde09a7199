#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "buoy/claims/quantities.h"

namespace buoy::null_studies {

// What every untrained network is asked: questions of version 2 of the world, as the default study asks them,
// and two more tasks beside reading.
struct Asked {
  std::filesystem::path models;  // the folder of the bundled pair: configs, tokenizers, prompts
  std::uint32_t questions = 64;
  std::uint32_t of_tasks = 16;  // of each of the two more tasks
  int threads = 2;
};

// Arms of networks, by the folder whose config they have.
struct UntrainedArm {
  std::string name;  // "natural-diffusion"
  bool masked_diffusion = true;
};
const std::vector<UntrainedArm>& untrained_arms();

// The numbers that claims rest on, of one network that was never trained.
std::vector<claims::NetworkQuantity> measure(const UntrainedArm& arm, std::uint64_t seed, const Asked& asked);

// A file with a line for every number, so that a run goes on where it stopped.
void append(const std::filesystem::path& file, const std::vector<claims::NetworkQuantity>& numbers);
std::vector<claims::NetworkQuantity> read(const std::filesystem::path& file);
std::string name_of(const UntrainedArm& arm, std::uint64_t seed);

}  // namespace buoy::null_studies
