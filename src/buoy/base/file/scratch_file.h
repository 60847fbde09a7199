#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace buoy {

// A file without a name, for what does not fit in memory: nobody finds it, and it is gone with its owner,
// also where the program is killed. Errors are IoErrors that name the folder.
class ScratchFile {
 public:
  // An empty folder: where temporary files of this machine lie (TMPDIR).
  explicit ScratchFile(const std::filesystem::path& folder);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  std::uint64_t bytes() const { return bytes_; }
  void append(std::span<const std::byte> bytes);
  void read_at(std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  std::string folder_;
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
};

}  // namespace buoy
