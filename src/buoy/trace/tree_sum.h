#pragma once

#include <string>

#include "buoy/base/file/mapped_file.h"

namespace buoy::trace {

// The tree_sha256 of a file, made by several threads. Pieces are let go again once they are summed, so that a
// large sample is not held in memory.
std::string tree_sha256_of(const MappedFile& file, int threads);

}  // namespace buoy::trace
