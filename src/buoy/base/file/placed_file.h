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

  // Makes the file as long as this; a disk that has less room says so now. Nobody else uses the file
  // meanwhile.
  void resize(std::uint64_t bytes);
  // Takes the room for these bytes on the disk, where the file system can: a disk that is full says so.
  void take_room(std::uint64_t offset, std::uint64_t bytes) const;
  // Bytes whose room was taken, as memory to write to and read from, where the file is in memory; else empty.
  std::span<std::byte> mapped(std::uint64_t offset, std::uint64_t bytes) const;
  // Mapped bytes that are not needed for now: they need not count as memory of this program.
  void let_go(std::uint64_t offset, std::uint64_t bytes) const;
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) const;
  void read_at(std::uint64_t offset, std::span<std::byte> bytes) const;
  // These bytes will not change soon: they may go to the disk, so that commit() waits for less. A hint.
  void begin_sync(std::uint64_t offset, std::uint64_t bytes) const;

  void commit();

 private:
  void unmap();
  [[noreturn]] void refuse_size(std::uint64_t bytes, int failure) const;

  std::string target_, partial_;
  int descriptor_;
  std::byte* map_ = nullptr;  // of the whole file
  std::uint64_t mapped_ = 0;  // bytes
};

// Of the name that a file has until commit(), "x.svg.partial.<number>": "x.svg". "" of other names.
std::string target_of_partial(const std::string& name);

}  // namespace buoy
