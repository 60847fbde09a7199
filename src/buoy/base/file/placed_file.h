#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace buoy {

// A file whose parts are written in any order, by several threads at once if they like, and that appears
// under its name only when it is whole: written beside the target, synced, renamed. Without commit() nothing
// is left behind. Errors are IoErrors that name the target.
class PlacedFile {
 public:
  explicit PlacedFile(const std::filesystem::path& path);
  ~PlacedFile();
  PlacedFile(const PlacedFile&) = delete;
  PlacedFile& operator=(const PlacedFile&) = delete;

  const std::string& target() const { return target_; }
  const std::string& partial() const { return partial_; }  // its name until commit()

  // Makes the file as long as this, and takes the room on the disk where the file system can: then a disk
  // that is too small says so now.
  void reserve(std::uint64_t bytes);
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) const;
  void read_at(std::uint64_t offset, std::span<std::byte> bytes) const;
  // These bytes will not change soon: they may go to the disk, so that commit() waits for less. A hint.
  void begin_sync(std::uint64_t offset, std::uint64_t bytes) const;

  void commit();

 private:
  std::string target_, partial_;
  int descriptor_;
};

}  // namespace buoy
