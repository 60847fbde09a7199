#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace buoy {

// A file that appears under its name only when it is whole: written beside the target, synced, renamed.
// Without commit() nothing is left behind. Errors are IoErrors that name the target.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view bytes) { write(std::as_bytes(std::span(bytes))); }
  // Replaces bytes written before.
  void overwrite(std::uint64_t offset, std::string_view bytes);
  std::uint64_t size() const { return size_; }

  void commit();

 private:
  std::string target_, partial_;
  int descriptor_;
  std::uint64_t size_ = 0;
};

}  // namespace buoy
