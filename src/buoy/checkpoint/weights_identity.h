#pragma once

#include <string>

#include "buoy/checkpoint/checkpoint.h"

namespace buoy {

// A sum that tells two sets of weights apart: of their layout, and of pieces from all over their files
// (docs/trace-format.md, model.weights_sha256). Taken of a checkpoint that was opened, and so checked; all of
// the weights would take minutes to read.
std::string weights_identity(const Checkpoint& checkpoint);

}  // namespace buoy
