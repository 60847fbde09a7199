#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "buoy/base/container/safetensors.h"

namespace buoy::testing {

std::filesystem::path data_folder();
std::vector<std::string> golden_cases();  // names of the folders under tests/data/goldens

// The arrays an independent implementation computed for one tiny checkpoint (tools/goldens), compressed with
// gzip; float32 ones have residual.safetensors.gz, too.
class Golden {
 public:
  explicit Golden(const std::string& name, const std::string& file = "goldens.safetensors.gz");
  explicit Golden(const std::filesystem::path& folder);  // elsewhere: its goldens.safetensors.gz

  const std::filesystem::path& folder() const { return folder_; }
  bool has(const std::string& array) const { return file_.tensors.contains(array); }
  std::vector<std::int32_t> ids(const std::string& array) const;
  std::vector<double> numbers(const std::string& array) const;  // from F32 or F64

 private:
  std::filesystem::path folder_;
  std::string bytes_;
  SafetensorsFile file_;
};

// Root of the mean square of a - b.
double rms_difference(std::span<const double> a, std::span<const double> b);

}  // namespace buoy::testing
