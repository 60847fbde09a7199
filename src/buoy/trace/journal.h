#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "buoy/base/file/locked_file.h"
#include "buoy/trace/manifest.h"

namespace buoy::trace {

// samples.jsonl: one line per finished sample while a run is under way, each synced before the next sample
// begins. Whoever has it open owns the trace: a second opener is refused.
class Journal {
 public:
  // Makes the file when there is none. Throws UsageError while another process writes to the trace.
  explicit Journal(std::filesystem::path path);

  void append(const SampleEntry& entry);
  void clear();
  void drop_torn_line();  // what a killed run left behind the last whole line
  void remove();

 private:
  LockedFile file_;
};

// Whether a run has the journal of a trace open just now.
bool is_being_written(const std::filesystem::path& journal);

// Empty when there is no file. A line that a killed run left unfinished at the end is passed over; a later
// line for the same sample replaces an earlier one. By id.
std::map<std::string, SampleEntry> read_journal(const std::filesystem::path& path);

}  // namespace buoy::trace
