#include "support/golden.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "buoy/base/file/gzip.h"

namespace buoy::testing {
namespace {

template <typename T>
std::vector<T> elements(const SafetensorsEntry& entry) {
  std::vector<T> values(entry.data.size() / sizeof(T));
  std::memcpy(values.data(), entry.data.data(), entry.data.size());
  return values;
}

}  // namespace

std::filesystem::path data_folder() {
  return BUOY_TEST_DATA;
}

std::vector<std::string> golden_cases() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(data_folder() / "goldens")) {
    if (entry.is_directory()) names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Golden::Golden(const std::string& name, const std::string& file)
    : folder_(data_folder() / "goldens" / name),
      bytes_(read_plain_or_gzip(folder_ / file)),
      file_(parse_safetensors(std::as_bytes(std::span(bytes_)), "goldens of " + name)) {}

Golden::Golden(const std::filesystem::path& folder)
    : folder_(folder),
      bytes_(read_plain_or_gzip(folder_ / "goldens.safetensors.gz")),
      file_(parse_safetensors(std::as_bytes(std::span(bytes_)), "goldens of " + folder.string())) {}

std::vector<std::int32_t> Golden::ids(const std::string& array) const {
  return elements<std::int32_t>(file_.tensors.at(array));
}

std::vector<double> Golden::numbers(const std::string& array) const {
  const auto& entry = file_.tensors.at(array);
  if (entry.dtype == "F64") return elements<double>(entry);
  if (entry.dtype != "F32") throw std::runtime_error(array + " is neither F32 nor F64");
  const auto floats = elements<float>(entry);
  return {floats.begin(), floats.end()};
}

double rms_difference(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size() || a.empty()) throw std::runtime_error("arrays of different or no length");
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

}  // namespace buoy::testing
