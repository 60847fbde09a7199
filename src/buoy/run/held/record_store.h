#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <vector>

#include "buoy/base/file/scratch_file.h"
#include "buoy/probe/own_states.h"
#include "buoy/probe/record.h"

namespace buoy::run {

// Records of a sequence until they are asked for, in their order: in memory while all stores of this program
// together hold little, then in a temporary file.
class RecordStore {
 public:
  // `folder` is where the file lies, see ScratchFile.
  explicit RecordStore(std::filesystem::path folder) : folder_(std::move(folder)) {}
  ~RecordStore();
  RecordStore(const RecordStore&) = delete;
  RecordStore& operator=(const RecordStore&) = delete;

  void put(probe::LayerRecord&& record);
  // The first that was not taken yet. What its states point at stays until the next one is taken.
  void take(probe::LayerRecord& record);

  std::uint64_t bytes_in_file() const { return file_ ? file_->bytes() : 0; }
  // Of all stores, now and at most; who sets another bound gets the one of before.
  static std::uint64_t bytes_in_memory();
  static std::uint64_t most_in_memory();
  static std::uint64_t bound_memory(std::uint64_t bytes);

 private:
  struct Held {
    probe::LayerRecord record;
    probe::OwnStates states;
    std::uint64_t bytes = 0;  // in memory; 0: it is in the file
  };

  void write(probe::LayerRecord& record);
  void read(probe::LayerRecord& record);

  std::filesystem::path folder_;
  std::deque<Held> held_;
  probe::OwnStates shown_;  // of the record taken last
  std::optional<ScratchFile> file_;
  std::uint64_t next_ = 0;  // in the file
  std::vector<std::byte> buffer_;
};

}  // namespace buoy::run
