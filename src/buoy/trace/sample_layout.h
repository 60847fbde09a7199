#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "buoy/trace/array.h"
#include "buoy/trace/level.h"
#include "buoy/trace/storage.h"

namespace buoy::trace {

// What a sample file looks like (docs/trace-format.md), a function of the sample and the storage alone.

// An array before it is written.
struct PlannedArray {
  std::string name;
  DataType dtype = DataType::kF32;  // of the values as they come; F32 may be stored as F16
  std::vector<std::int64_t> shape;
  // Equal parts that come one by one, in row-major order: the leading dimensions. S * L of a stack over steps
  // and layers.
  std::int64_t cells = 1;
};

// Where it goes.
struct PlacedArray {
  PlannedArray plan;
  DataType stored = DataType::kF32;
  std::uint64_t offset = 0;  // from the beginning of the data, behind the header
  std::uint64_t bytes = 0;
};

// By falling element size, otherwise in the order given. Under Storage::kF16 every F32 array but those of
// `keep_f32` is stored as F16. Throws UsageError: names that come twice, shapes without sizes, cells that do
// not divide.
std::vector<PlacedArray> place_arrays(std::span<const PlannedArray> arrays, Storage storage,
                                      const std::set<std::string>& keep_f32);

std::uint64_t data_bytes(std::span<const PlacedArray> arrays);

// The data begin at a multiple of this: the largest power of two that is at most a 64th of them, from 8 bytes
// to 1 MiB. So the header's room costs little, and a large file written before all its texts are known hardly
// ever has to be moved.
std::uint64_t data_alignment(std::uint64_t data_bytes);

// Everything before the data.
std::string format_sample_header(const std::string& id, std::span<const PlacedArray> arrays,
                                 const std::map<std::string, std::string>& texts, Level level = Level::kFull);

// Texts that the writer sets: format, version, id. Throws UsageError when they are given.
void refuse_own_texts(const std::string& id, const std::map<std::string, std::string>& texts);

}  // namespace buoy::trace
