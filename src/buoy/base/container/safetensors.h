#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace buoy {

// The safetensors container: 8 bytes of header length, a JSON header, then the data of all tensors end
// to end. Used for checkpoints and for traces.

struct SafetensorsEntry {
  std::string dtype;  // "F32", "BF16", "I32", ...
  std::vector<std::int64_t> shape;
  std::span<const std::byte> data;
};

struct SafetensorsFile {
  std::map<std::string, SafetensorsEntry> tensors;
  std::map<std::string, std::string> metadata;  // the header's __metadata__
};

// The JSON header, after checking its length against the file and the format's limit.
std::string_view safetensors_header(std::span<const std::byte> bytes, const std::string& name);

// Checks everything before returning: header length, JSON, dtypes, shape times element size against the
// offsets, no overlap, no gap, no byte outside the file. `bytes` must outlive the result; `name` is the
// file named in errors.
SafetensorsFile parse_safetensors(std::span<const std::byte> bytes, const std::string& name);

// One tensor of a file to be written.
struct SafetensorsHeaderEntry {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::uint64_t bytes;  // of its data
};

// What comes before the data of the tensors, which must follow in the given order: length and JSON header,
// padded with spaces so that the data begin at a multiple of `alignment`, itself a multiple of 8. Equal input
// gives equal bytes.
std::string format_safetensors_header(std::span<const SafetensorsHeaderEntry> tensors,
                                      const std::map<std::string, std::string>& metadata,
                                      std::size_t alignment = 8);

struct SafetensorsTensor {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> data;
};

// The whole file as bytes.
std::string format_safetensors(std::span<const SafetensorsTensor> tensors,
                               const std::map<std::string, std::string>& metadata);

// Bytes per element, or 0 for a type the format does not know.
size_t safetensors_element_size(std::string_view dtype);

}  // namespace buoy
