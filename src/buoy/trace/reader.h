#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "buoy/trace/index.h"
#include "buoy/trace/stored_sample.h"

namespace buoy::trace {

// A trace on disk, finished or not. Files are read when asked for.
class TraceReader {
 public:
  // What is computed from a trace is computed from what was written: sums are compared unless told otherwise.
  // `threads` is how many sum a large file.
  static TraceReader open(const std::filesystem::path& folder, Integrity integrity = Integrity::kChecksum,
                          int threads = 1);

  const Manifest& manifest() const { return index_.manifest; }
  // False while the run is under way and after it was killed.
  bool complete() const { return index_.complete; }
  // In the order of manifest().sample_ids; of an unfinished trace those it has so far.
  const std::vector<SampleEntry>& samples() const { return index_.entries; }

  // Throws InputError when the file is missing, not what the manifest says, or no sample (sample_rules.h).
  // The checksum reads the whole file, once in a process.
  StoredSample read(const std::string& id) const;

  // Everything that is wrong, one line each: samples missing, damaged or unreadable; files that belong to no
  // sample. An unfinished run and failed samples are no problem of the trace.
  std::vector<std::string> verify() const;

 private:
  TraceReader(std::filesystem::path folder, Index index, const Comparison& comparison);

  std::filesystem::path folder_;
  Index index_;
  Comparison comparison_;
};

}  // namespace buoy::trace
