#include "buoy/trace/sample_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "buoy/base/container/safetensors.h"
#include "buoy/base/error.h"
#include "buoy/trace/level.h"
#include "buoy/trace/schema.h"

namespace buoy::trace {

std::vector<PlacedArray> place_arrays(std::span<const PlannedArray> arrays, Storage storage,
                                      const std::set<std::string>& keep_f32) {
  std::vector<PlacedArray> placed;
  std::set<std::string_view> names;
  for (const PlannedArray& array : arrays) {
    const std::string where = fmt::format("array {}", array.name);
    if (!names.insert(array.name).second) throw_usage_error({where, "each name once", "it twice"});
    const std::int64_t elements = element_count(array.name, array.shape);
    if (array.cells < 1 || elements % array.cells != 0) {
      throw_usage_error({where, "cells that divide " + describe_shape(array.shape) + " evenly",
                         fmt::format("{} cells", array.cells)});
    }
    const bool shrink =
        storage == Storage::kF16 && array.dtype == DataType::kF32 && !keep_f32.contains(array.name);
    const DataType stored = shrink ? DataType::kF16 : array.dtype;
    placed.push_back({array, stored, 0, static_cast<std::uint64_t>(elements) * size_of(stored)});
  }
  std::stable_sort(placed.begin(), placed.end(), [](const PlacedArray& a, const PlacedArray& b) {
    return size_of(a.stored) > size_of(b.stored);
  });
  std::uint64_t at = 0;
  for (PlacedArray& array : placed) array.offset = std::exchange(at, at + array.bytes);
  return placed;
}

std::uint64_t data_bytes(std::span<const PlacedArray> arrays) {
  return arrays.empty() ? 0 : arrays.back().offset + arrays.back().bytes;
}

std::uint64_t data_alignment(std::uint64_t data_bytes) {
  constexpr std::uint64_t kLeast = 8, kMost = std::uint64_t{1} << 20;
  return std::clamp(std::bit_floor(data_bytes / 64), kLeast, kMost);
}

std::string format_sample_header(const std::string& id, std::span<const PlacedArray> arrays,
                                 const std::map<std::string, std::string>& texts, Level level) {
  std::vector<SafetensorsHeaderEntry> tensors;
  for (const PlacedArray& array : arrays) {
    tensors.push_back({array.plan.name, std::string(name_of(array.stored)), array.plan.shape, array.bytes});
  }
  auto metadata = texts;
  metadata[std::string(kFormat)] = kSampleFormatName;
  const auto attention = texts.find(std::string(kAttention));
  const bool blocks = attention != texts.end() && attention->second == kBlocksAttention;
  metadata[std::string(kVersion)] = std::to_string(version_of(level, blocks));
  metadata[std::string(kId)] = id;
  return format_safetensors_header(tensors, metadata, data_alignment(data_bytes(arrays)));
}

void refuse_own_texts(const std::string& id, const std::map<std::string, std::string>& texts) {
  for (const std::string_view key : {kFormat, kVersion, kId}) {
    if (texts.contains(std::string(key))) {
      throw_usage_error(
          {fmt::format("sample {}: metadata", id), fmt::format("{} left to the writer", key), "it given"});
    }
  }
}

}  // namespace buoy::trace
