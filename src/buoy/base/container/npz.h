#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/base/container/pickle.h"
#include "buoy/base/container/zip_writer.h"

namespace buoy {

// Writes arrays that numpy.load opens (a zip of .npy files). Arrays go to disk one after the other, so the
// whole need not fit in memory; the file appears under its name only after finish().
class NpzWriter {
 public:
  explicit NpzWriter(const std::filesystem::path& path) : zip_(path) {}

  void add(const std::string& name, std::span<const float> values, const std::vector<std::int64_t>& shape);
  void add(const std::string& name, std::span<const std::int64_t> values,
           const std::vector<std::int64_t>& shape);
  void add_integer(const std::string& name, std::int64_t value);  // a scalar
  void add_text(const std::string& name, std::string_view utf8);  // a scalar of type U
  // A one-dimensional object array; `write` is called once and writes `count` objects.
  void add_objects(const std::string& name, std::int64_t count,
                   const std::function<void(PickleWriter&)>& write);
  void finish() { zip_.finish(); }

 private:
  void add_bytes(const std::string& name, std::string_view header, std::span<const std::byte> bytes);

  ZipWriter zip_;
};

}  // namespace buoy
