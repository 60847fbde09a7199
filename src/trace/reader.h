#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trace/index.h"
#include "trace/stored_sample.h"

namespace buoy::trace {

// A trace on disk, finished or not. Files are read when asked for.
class TraceReader {
 public:
  static TraceReader open(const std::filesystem::path& folder);

  const Manifest& manifest() const { return index_.manifest; }
  // False while the run is under way and after it was killed.
  bool complete() const { return index_.complete; }
  // In the order of manifest().sample_ids; of an unfinished trace those it has so far.
  const std::vector<SampleEntry>& samples() const { return index_.entries; }

  // Throws InputError when the file is missing or not what the manifest says. The checksum reads the whole
  // file once; kSizeOnly leaves it out.
  StoredSample read(const std::string& id, Integrity integrity = Integrity::kChecksum) const;

  // Everything that is wrong, one line each: an unfinished run; samples missing, damaged or unreadable; files
  // that belong to no sample. Failed samples are no problem of the trace.
  std::vector<std::string> verify() const;

 private:
  TraceReader(std::filesystem::path folder, Index index);

  std::filesystem::path folder_;
  Index index_;
};

}  // namespace buoy::trace
