#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace buoy {

// Writes arrays that numpy.load opens (a zip of .npy files, stored, with 64-bit sizes). Arrays go to disk
// one after the other, so the whole need not fit in memory; the file appears under its name only after
// finish().
class NpzWriter {
 public:
  explicit NpzWriter(std::filesystem::path path);
  ~NpzWriter();
  NpzWriter(const NpzWriter&) = delete;
  NpzWriter& operator=(const NpzWriter&) = delete;

  void add(const std::string& name, std::span<const float> values, const std::vector<std::int64_t>& shape);
  void finish();

 private:
  struct Entry {
    std::string name;
    std::uint32_t checksum;
    std::uint64_t size;
    std::uint64_t offset;
  };

  void write(const void* bytes, size_t size);

  std::filesystem::path path_;
  std::filesystem::path partial_;
  std::FILE* file_ = nullptr;
  std::uint64_t written_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace buoy
