#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace buoy::app {

// What `buoy inspect` prints of a file or a folder: labels and values, as lines or as JSON.
class InspectionSheet {
 public:
  explicit InspectionSheet(const std::string& kind) { add("kind", kind); }

  void add(const std::string& label, const std::string& value) { lines_.emplace_back(label, value); }
  void print(bool json) const;  // in JSON, values of one label become a list

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
};

// The first bytes of a regular file: enough to tell what it is.
std::string read_head(const std::filesystem::path& file);

}  // namespace buoy::app
