#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "buoy/base/container/safetensors.h"
#include "buoy/base/error.h"

// Any bytes as a safetensors file. Only buoy::Error may come out; what is accepted must lie inside the
// input, be readable to the last byte, and survive being written and read again.

namespace {

using buoy::SafetensorsFile;

void expect(bool promise) {
  if (!promise) std::abort();
}

// Reading every byte lets AddressSanitizer judge the spans.
unsigned sum_of_bytes(std::span<const std::byte> data) {
  unsigned sum = 0;
  for (const std::byte byte : data) sum += std::to_integer<unsigned>(byte);
  return sum;
}

std::vector<buoy::SafetensorsTensor> tensors_of(const SafetensorsFile& file) {
  std::vector<buoy::SafetensorsTensor> tensors;
  for (const auto& [name, entry] : file.tensors)
    tensors.push_back({name, entry.dtype, entry.shape, entry.data});
  return tensors;
}

void expect_survives_rewriting(const SafetensorsFile& file) {
  const std::string written = buoy::format_safetensors(tensors_of(file), file.metadata);
  const SafetensorsFile again = buoy::parse_safetensors(std::as_bytes(std::span(written)), "rewritten");
  expect(again.metadata == file.metadata && again.tensors.size() == file.tensors.size());
  for (const auto& [name, entry] : file.tensors) {
    const auto& copy = again.tensors.at(name);
    expect(copy.dtype == entry.dtype && copy.shape == entry.shape);
    expect(std::equal(copy.data.begin(), copy.data.end(), entry.data.begin(), entry.data.end()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  SafetensorsFile file;
  try {
    file = buoy::parse_safetensors(bytes, "fuzzed");
  } catch (const buoy::Error&) {
    return 0;
  }
  unsigned sum = 0;
  size_t total = 0;
  for (const auto& [name, entry] : file.tensors) {
    expect(entry.data.data() >= bytes.data() && entry.data.data() + entry.data.size() <= bytes.data() + size);
    total += entry.data.size();
    sum += sum_of_bytes(entry.data);
  }
  expect(total <= size);
  expect(sum <= 255 * size);
  expect_survives_rewriting(file);
  return 0;
}
