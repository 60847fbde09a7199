#include "buoy/trace/stored_sample.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/file/json_file.h"
#include "buoy/tensor/float16_spans.h"
#include "buoy/tensor/float_range.h"
#include "buoy/trace/array.h"
#include "buoy/trace/level.h"
#include "buoy/trace/schema.h"

namespace buoy::trace {
namespace {

// The file may be from elsewhere and not aligned, so elements are copied.
template <typename T>
std::vector<T> copy(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::string describe(const FloatRange& range) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  if (range.most < kLargest) return fmt::format("numbers from {} to {}", range.least, range.most);
  return range.least > -kLargest ? fmt::format("finite numbers of at least {}", range.least)
                                 : "finite numbers";
}

std::int64_t elements(const SafetensorsEntry& entry) {
  return static_cast<std::int64_t>(entry.data.size() / safetensors_element_size(entry.dtype));
}

}  // namespace

StoredSample::StoredSample(MappedFile file, std::string name, const Manifest& manifest)
    : name_(std::move(name)), file_(std::move(file)), contents_(parse_safetensors(file_.bytes(), name_)) {
  if (text(kFormat) != kSampleFormatName) {
    throw_input_error({where(kFormat), std::string(kSampleFormatName), text(kFormat)});
  }
  // Those of a level below full came with its version, and so did those of models that see blocks.
  const std::int64_t most = version_of(manifest.level, manifest.blocks),
                     least = manifest.level == Level::kFull && !manifest.blocks ? 1 : most;
  if (integer_text(kVersion) < least || integer_text(kVersion) > most) {
    throw_input_error({where(kVersion),
                       least < most ? fmt::format("{} to {}", least, most) : fmt::format("{}", most),
                       text(kVersion)});
  }
  id_ = text(kId);
  SampleView view{{}, contents_.metadata};
  for (const auto& [array, entry] : contents_.tensors) {
    view.arrays.push_back({array, entry.dtype, entry.shape, entry.data});
    if (const auto range = float_range(array)) ranges_.emplace(array, *range);
  }
  check_sample(
      view,
      {.where = name_, .fail = throw_input_error, .model = &manifest.model, .storage = &manifest.storage});
}

void StoredSample::check_values(std::string_view array, const std::vector<float>& values,
                                std::int64_t first) const {
  const auto found = ranges_.find(array);
  if (found == ranges_.end()) return;
  const auto& range = found->second;
  if (all_within(values, range.least, range.most)) return;
  const auto wrong = std::find_if_not(values.begin(), values.end(), [&range](float value) {
    return value >= range.least && value <= range.most;
  });
  throw_input_error({where(array), describe(found->second),
                     fmt::format("{} at {}", *wrong, first + (wrong - values.begin()))});
}

std::string StoredSample::where(std::string_view part) const {
  return fmt::format("{}: {}", name_, part);
}

const SafetensorsEntry& StoredSample::find(std::string_view array) const {
  const auto found = contents_.tensors.find(std::string(array));
  if (found == contents_.tensors.end()) {
    throw_input_error({where(array), "such an array", "none (it was not observed in this run)"});
  }
  return found->second;
}

std::vector<std::string> StoredSample::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : contents_.tensors) names.push_back(name);
  return names;
}

bool StoredSample::has(std::string_view array) const {
  return contents_.tensors.contains(std::string(array));
}

const std::string& StoredSample::dtype(std::string_view array) const {
  return find(array).dtype;
}

const std::vector<std::int64_t>& StoredSample::shape(std::string_view array) const {
  return find(array).shape;
}

std::vector<float> StoredSample::floats_in(std::string_view array, const Range& range) const {
  const SafetensorsEntry& entry = find(array);
  if (entry.dtype != "F32" && entry.dtype != "F16") {
    throw_input_error({where(array), "F32 or F16", entry.dtype});
  }
  const size_t size = safetensors_element_size(entry.dtype);
  const auto bytes = entry.data.subspan(static_cast<size_t>(range.begin) * size,
                                        static_cast<size_t>(range.end - range.begin) * size);
  std::vector<float> values;
  if (entry.dtype == "F32") {
    values = copy<float>(bytes);
  } else {
    values.resize(bytes.size() / 2);
    f16_to_floats(bytes, values);
  }
  // Whoever reads a large sample piece by piece must not end up holding all of it.
  file_.release(bytes);
  check_values(array, values, range.begin);
  return values;
}

std::vector<float> StoredSample::floats(std::string_view array) const {
  return floats_in(array, {0, elements(find(array))});
}

std::vector<float> StoredSample::floats(std::string_view array, const Slice& slice) const {
  const SafetensorsEntry& entry = find(array);
  const std::int64_t leading = entry.shape.empty() ? 0 : entry.shape[0];
  if (slice.begin < 0 || slice.begin > slice.end || slice.end > leading) {
    throw_usage_error({where(array), fmt::format("a part of [0, {})", leading),
                       fmt::format("[{}, {})", slice.begin, slice.end)});
  }
  const std::int64_t stride = leading == 0 ? 0 : elements(entry) / leading;
  return floats_in(array, {slice.begin * stride, slice.end * stride});
}

StoredSample::Range StoredSample::range_at(std::string_view array,
                                           const std::vector<std::int64_t>& leading) const {
  const SafetensorsEntry& entry = find(array);
  bool inside = leading.size() <= entry.shape.size();
  std::int64_t begin = 0, stride = elements(entry);
  for (size_t i = 0; inside && i < leading.size(); ++i) {
    inside = leading[i] >= 0 && leading[i] < entry.shape[i];
    if (!inside) break;
    stride /= entry.shape[i];
    begin += leading[i] * stride;
  }
  if (!inside) {
    throw_usage_error(
        {where(array), "indices into shape " + describe_shape(entry.shape), describe_shape(leading)});
  }
  return {begin, begin + stride};
}

std::vector<float> StoredSample::floats_at(std::string_view array,
                                           const std::vector<std::int64_t>& leading) const {
  return floats_in(array, range_at(array, leading));
}

std::vector<std::int32_t> StoredSample::integers_in(std::string_view array, const Range& range) const {
  const SafetensorsEntry& entry = find(array);
  if (entry.dtype != "I32" && entry.dtype != "U8")
    throw_input_error({where(array), "I32 or U8", entry.dtype});
  const size_t size = safetensors_element_size(entry.dtype);
  const auto bytes = entry.data.subspan(static_cast<size_t>(range.begin) * size,
                                        static_cast<size_t>(range.end - range.begin) * size);
  if (entry.dtype == "I32") return copy<std::int32_t>(bytes);
  const auto values = copy<std::uint8_t>(bytes);
  return {values.begin(), values.end()};
}

std::span<const std::uint8_t> StoredSample::bytes(std::string_view array) const {
  const SafetensorsEntry& entry = find(array);
  if (entry.dtype != "U8") throw_input_error({where(array), "U8", entry.dtype});
  return {reinterpret_cast<const std::uint8_t*>(entry.data.data()), entry.data.size()};
}

std::vector<std::int32_t> StoredSample::integers(std::string_view array) const {
  return integers_in(array, {0, elements(find(array))});
}

std::vector<std::int32_t> StoredSample::integers_at(std::string_view array,
                                                    const std::vector<std::int64_t>& leading) const {
  return integers_in(array, range_at(array, leading));
}

bool StoredSample::has_text(std::string_view key) const {
  return contents_.metadata.contains(std::string(key));
}

const std::string& StoredSample::text(std::string_view key) const {
  const auto found = contents_.metadata.find(std::string(key));
  if (found == contents_.metadata.end()) {
    throw_input_error({where("__metadata__: ") + std::string(key), "a text", "none"});
  }
  return found->second;
}

std::int64_t StoredSample::integer_text(std::string_view key) const {
  const std::string& digits = text(key);
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failure != std::errc{} || end != digits.data() + digits.size()) {
    throw_input_error({where("__metadata__: ") + std::string(key), "an integer", describe_json(digits)});
  }
  return value;
}

std::vector<std::string> StoredSample::text_list(std::string_view key) const {
  const std::string place = where("__metadata__: ") + std::string(key);
  const Json json = parse_json(text(key), place);
  if (!json.is_array()) throw_input_error({place, "a list of texts", describe_json(json)});
  std::vector<std::string> texts;
  for (const Json& item : json) {
    if (!item.is_string()) throw_input_error({place, "a list of texts", describe_json(item) + " in it"});
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

}  // namespace buoy::trace
