#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/base/file/atomic_file.h"

namespace buoy {

// A zip file of stored entries with 64-bit sizes and no clock in it: equal content, equal bytes. Entries are
// streamed; the file appears under its name only after finish().
class ZipWriter {
 public:
  explicit ZipWriter(const std::filesystem::path& path) : file_(path) {}

  void begin(const std::string& name);
  void write(std::span<const std::byte> bytes);
  void write(std::string_view bytes) { write(std::as_bytes(std::span(bytes))); }
  void end();
  void finish();

 private:
  struct Entry {
    std::string name;
    std::uint32_t checksum = 0;
    std::uint64_t size = 0;
    std::uint64_t offset = 0;
  };

  AtomicFile file_;
  std::vector<Entry> entries_;
  bool open_ = false;
};

}  // namespace buoy
