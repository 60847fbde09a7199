#pragma once

#include <string>
#include <vector>

namespace buoy::ops {

// One of the instruction sets that the kernels of this folder are compiled for.
struct VectorTarget {
  std::string name;     // as Highway calls it: "AVX2", "NEON"
  bool usable = false;  // on this processor
  bool used = false;    // the best usable one
};

std::vector<VectorTarget> vector_targets();  // best first

}  // namespace buoy::ops
