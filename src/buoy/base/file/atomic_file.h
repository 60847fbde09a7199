#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "buoy/base/file/placed_file.h"

namespace buoy {

// A PlacedFile that is written from its beginning to its end.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path) : file_(path) {}

  void write(std::span<const std::byte> bytes);
  void write(std::string_view bytes) { write(std::as_bytes(std::span(bytes))); }
  // Replaces bytes written before.
  void overwrite(std::uint64_t offset, std::string_view bytes);
  std::uint64_t size() const { return size_; }

  void commit() { file_.commit(); }

 private:
  PlacedFile file_;
  std::uint64_t size_ = 0;
};

}  // namespace buoy
