#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "buoy/shard/decision.h"

namespace buoy::shard {

// How far a part is, as its file says it.
struct PartProgress {
  int shard = 0;
  std::string state = "waiting";                      // running, done, stopped, failed; waiting: never began
  std::string stage;                                  // of a study: the part that runs
  std::int64_t done = 0, total = 0, done_before = 0;  // before: what was there when it began
  double seconds = 0;                                 // since it began
  double age = 0;                                     // of the file, by the clock of the disk
  std::string host, error;
  std::int64_t pid = 0;

  double rate() const;  // samples a second, of this start; 0: unknown
  double left() const;  // seconds; 0: unknown
};

// The progress of one part of a run in its file: written at most every two seconds, and at the end.
class ProgressFile {
 public:
  ProgressFile(const std::filesystem::path& out, const Shard& shard);

  void stage(const std::string& text, std::int64_t total, std::int64_t done_before);
  void advance();
  void end(const std::string& state, const std::string& error = "");

 private:
  void write();

  std::filesystem::path file_;
  PartProgress now_;
  std::chrono::steady_clock::time_point started_, written_;
};

// Of every shard of the run, those that never began too.
std::vector<PartProgress> read_progress(const std::filesystem::path& out, int shards);

}  // namespace buoy::shard
