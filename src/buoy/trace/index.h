#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "buoy/base/file/mapped_file.h"
#include "buoy/trace/integrity.h"
#include "buoy/trace/manifest.h"

namespace buoy::trace {

std::filesystem::path manifest_path(const std::filesystem::path& folder);
std::filesystem::path journal_path(const std::filesystem::path& folder);

// What a trace folder claims to hold: the manifest and, until the run is finished, the journal.
struct Index {
  Manifest manifest;
  std::int64_t version = 0;
  bool complete = false;
  std::vector<SampleEntry> entries;  // in the order of manifest.sample_ids; of an unfinished run not all
};

Index read_index(const std::filesystem::path& folder, Integrity integrity = Integrity::kChecksum);

// How the file of a sample is compared with its entry.
struct Comparison {
  Integrity integrity = Integrity::kChecksum;
  int threads = 1;  // that sum a large file
};

// Empty when the file of a sample is as long as the entry says and has its checksum; otherwise what is wrong:
// "expected .., found ..". A file whose checksum was right is not summed again by this process while its
// inode, size and times stay the same.
std::string find_damage(const std::filesystem::path& path, const MappedFile& file, const SampleEntry& entry,
                        const Comparison& comparison);
// The same of a file below the trace's folder, which may be missing.
std::string find_damage(const std::filesystem::path& folder, const SampleEntry& entry,
                        const Comparison& comparison);

}  // namespace buoy::trace
