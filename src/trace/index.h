#pragma once

#include <filesystem>
#include <vector>

#include "trace/manifest.h"

namespace buoy::trace {

std::filesystem::path manifest_path(const std::filesystem::path& folder);
std::filesystem::path journal_path(const std::filesystem::path& folder);

// What a trace folder claims to hold: the manifest and, until the run is finished, the journal.
struct Index {
  Manifest manifest;
  bool complete = false;
  std::vector<SampleEntry> entries;  // in the order of manifest.sample_ids; of an unfinished run not all
};

Index read_index(const std::filesystem::path& folder);

// Empty when the file is there, as long as the entry says and with its checksum; otherwise what is wrong:
// "expected .., found ..".
enum class Integrity { kSizeOnly, kChecksum };
std::string find_damage(const std::filesystem::path& folder, const SampleEntry& entry, Integrity integrity);

}  // namespace buoy::trace
