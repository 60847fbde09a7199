#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace buoy::testing {

// The bundled trained models.
std::filesystem::path pair_folder(bool masked_diffusion);

// Traces `count` questions of the bundled world, `passages` passages each, with one of the pair.
struct PairTrace {
  bool masked_diffusion = true;
  int count = 3, passages = 3;
  std::vector<std::string> more;  // options of `buoy trace`
};
void trace_pair(const std::filesystem::path& folder, const PairTrace& trace);

}  // namespace buoy::testing
