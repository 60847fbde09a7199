#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "buoy/checkpoint/config.h"
#include "buoy/observe/number_set.h"
#include "buoy/probe/residual.h"

namespace buoy::run {

// As errors name them.
inline constexpr char kSteerField[] = "`steer`", kPatchField[] = "`patch`", kMlpField[] = "`scale_mlp`";

// A vector that is added to the residual stream, or takes its place, at some positions.
struct ResidualVectors {
  std::string where = "all";            // positions, the name of a region, or "all"
  std::vector<std::int64_t> positions;  // where they are given, ascending
  observe::NumberSet layers;            // of an empty list: all
  observe::NumberSet steps;             // of the denoising
  bool of_single_steps = false;         // steps are named
  probe::ResidualPoint at = probe::ResidualPoint::kPost;
  bool replace = false;
  std::vector<float> values;  // [hidden] for all positions alike, or [positions, hidden]

  const char* field() const { return replace ? kPatchField : kSteerField; }
};

// A factor on what an MLP adds to the residual stream; 0 leaves it out.
struct MlpChange {
  observe::NumberSet layers, steps;
  bool of_single_steps = false;
  double factor = 0;
};

// "answer@12=2*direction.npy", "0,5-8@3:mid/0-3=states.npy":
// WHERE@LAYERS[:pre|:mid|:post][/STEPS]=[FACTOR*]FILE; a vector that replaces has no factor. UsageErrors name
// the field, InputErrors the file.
ResidualVectors parse_residual_vectors(const std::string& text, bool replace);
// As the manifest of a trace has it: with the sum of the file, so that another one is another change.
std::string stored_text(const std::string& text, const ResidualVectors& vectors);

// UsageError when the model has no such layer, no steps to tell apart or another width.
void check_residual_vectors(const ResidualVectors& vectors, const ModelConfig& config, bool has_steps);

}  // namespace buoy::run
