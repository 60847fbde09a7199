#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace buoy::testing {

// A trace with one sample, taken apart so that a test can change any of its fields, and put together again
// with sums that fit: what a hostile hand would leave.
class EditedTrace {
 public:
  explicit EditedTrace(const std::filesystem::path& folder);  // that of a complete trace; stays as it is

  nlohmann::json manifest;  // manifest.json
  nlohmann::json header;    // of the sample, __metadata__ included
  std::string data;         // behind it
  bool fix_sums = true;     // write() puts size and checksum of the sample into the manifest

  nlohmann::json& text(const std::string& key) { return header["__metadata__"][key]; }
  nlohmann::json& model(const std::string& key) { return manifest["model"][key]; }
  std::int32_t integer(const std::string& array, std::int64_t at) const;
  void set_integer(const std::string& array, std::int64_t at, std::int32_t value);
  void set_byte(const std::string& array, std::int64_t at, std::uint8_t value);
  void set_float(const std::string& array, std::int64_t at, float value);
  // Gives an array other sizes and the bytes these take, cut or filled with zeros.
  void reshape(const std::string& array, const std::vector<std::int64_t>& shape);
  void remove(const std::string& array);

  std::string sample_bytes() const;
  // The manifest comes without a sum of its own, as from the first writers.
  void write(const std::filesystem::path& folder) const;

 private:
  std::string file_;  // of the sample, below the folder

  std::int64_t offset(const std::string& array) const;
  void replace(const std::string& array, const std::string& bytes);
};

// Leaves the sum of the manifest out, as the first writers did: then fields may be changed without a word.
void remove_manifest_sum(const std::filesystem::path& manifest);

}  // namespace buoy::testing
