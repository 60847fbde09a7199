#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/base/container/safetensors.h"
#include "buoy/base/file/mapped_file.h"
#include "buoy/trace/manifest.h"
#include "buoy/trace/sample_rules.h"

namespace buoy::trace {

// Part of the leading dimension: [begin, end).
struct Slice {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// One sample of a trace, mapped: what is not asked for is not read from the disk. Errors are InputErrors that
// name the file and the array.
class StoredSample {
 public:
  // Refuses a file that is no sample of a trace with this manifest (sample_rules.h): what is behind it may be
  // used as it is. `name` is the file named in errors.
  StoredSample(MappedFile file, std::string name, const Manifest& manifest);

  const std::string& id() const { return id_; }
  std::vector<std::string> names() const;
  bool has(std::string_view array) const;
  const std::string& dtype(std::string_view array) const;  // "F32", "F16", "I32", "U8"
  const std::vector<std::int64_t>& shape(std::string_view array) const;

  // Values in row-major order, F16 widened to float. InputError for values that the array cannot hold: NaN,
  // infinities, negative weights, shares above 1.
  std::vector<float> floats(std::string_view array) const;
  std::vector<float> floats(std::string_view array, const Slice& slice) const;
  // The sub-array at the given leading indices: floats_at("received", {step, layer}) is [G, H, T].
  std::vector<float> floats_at(std::string_view array, const std::vector<std::int64_t>& leading) const;
  // From I32 or U8.
  std::vector<std::int32_t> integers(std::string_view array) const;
  std::vector<std::int32_t> integers_at(std::string_view array,
                                        const std::vector<std::int64_t>& leading) const;

  std::span<const std::uint8_t> bytes(std::string_view array) const;  // of U8
  std::string where(std::string_view part) const;                     // the file and a part of it, for errors

  const std::map<std::string, std::string>& metadata() const { return contents_.metadata; }
  bool has_text(std::string_view key) const;
  const std::string& text(std::string_view key) const;
  std::int64_t integer_text(std::string_view key) const;           // "prompt_length"
  std::vector<std::string> text_list(std::string_view key) const;  // "token_texts"

 private:
  struct Range {
    std::int64_t begin, end;  // elements
  };

  const SafetensorsEntry& find(std::string_view array) const;
  void check_values(std::string_view array, const std::vector<float>& values, std::int64_t first) const;
  Range range_at(std::string_view array, const std::vector<std::int64_t>& leading) const;
  std::vector<float> floats_in(std::string_view array, const Range& range) const;
  std::vector<std::int32_t> integers_in(std::string_view array, const Range& range) const;

  std::string name_;
  MappedFile file_;
  SafetensorsFile contents_;  // points into file_
  std::map<std::string, FloatRange, std::less<>> ranges_;
  std::string id_;
};

}  // namespace buoy::trace
