#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "buoy/trace/index.h"

namespace buoy::trace {

// A trace in parts (shard/parent_folder.h): manifest.json of the folder plans the whole, and every part is a
// trace of some of its samples.

// Whether the folder holds parts.
bool has_parts(const std::filesystem::path& folder);

// The samples of all parts, in the order of the plan; their files are named from the folder on. Parts of
// another run (AnotherRun), one part twice, or a sample that two parts hold differently are InputErrors that
// name them. A sample that failed in one part and is done in another is done.
std::vector<SampleEntry> entries_of_parts(const std::filesystem::path& folder, const Manifest& plan,
                                          Integrity integrity);

// Puts the samples of all parts into the folder and makes its manifest complete, last. Files are linked, or
// copied where the disk has no links. The bytes are those of a run in one part. Every planned sample must be
// there: the caller looks first.
void merge_parts(const std::filesystem::path& folder);

}  // namespace buoy::trace
