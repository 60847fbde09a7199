#include "buoy/trace/sample.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/utf8.h"
#include "buoy/trace/sample_rules.h"

namespace buoy::trace {
namespace {

constexpr size_t kLongestId = 128;

}  // namespace

std::string_view name_of(Storage storage) {
  return storage == Storage::kF32 ? "F32" : "F16";
}

bool is_sample_id(std::string_view id) {
  constexpr std::string_view kAllowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !id.empty() && id.size() <= kLongestId && id.front() != '.' &&
         id.find_first_not_of(kAllowed) == std::string_view::npos;
}

void check_sample_id(const std::string& id) {
  if (is_sample_id(id)) return;
  throw_usage_error({"sample id",
                     fmt::format("1 to {} of A-Z a-z 0-9 . _ -, not beginning with a dot", kLongestId),
                     describe_json(replace_invalid_utf8(id))});
}

std::filesystem::path sample_file(const std::string& id) {
  check_sample_id(id);
  return std::filesystem::path("samples") / (id + ".safetensors");
}

void check_sample(const Sample& sample, const ModelCard* model) {
  check_sample_id(sample.id);
  const std::string where = fmt::format("sample {}", sample.id);
  std::set<std::string> names;
  SampleView view{{}, sample.metadata};
  for (const Array& array : sample.arrays) {
    if (!names.insert(array.name).second)
      throw_usage_error({fmt::format("{}: {}", where, array.name), "each name once", "it twice"});
    if (element_count(array.name, array.shape) * static_cast<std::int64_t>(size_of(array.dtype)) !=
        static_cast<std::int64_t>(array.bytes.size())) {
      throw_usage_error({fmt::format("{}: {}", where, array.name),
                         "bytes to fill " + describe_shape(array.shape),
                         fmt::format("{} bytes of {}", array.bytes.size(), name_of(array.dtype))});
    }
    view.arrays.push_back({array.name, name_of(array.dtype), array.shape, array.bytes});
  }
  refuse_own_texts(sample.id, sample.metadata);
  check_sample(view, {.where = fmt::format("sample {}", sample.id),
                      .fail = throw_usage_error,
                      .refuse_unknown = true,
                      .model = model});
}

SamplePlan plan_of(const Sample& sample, Storage storage) {
  SamplePlan plan{sample.id, {}, sample.metadata, {}};
  for (const Array& array : sample.arrays) {
    plan.arrays.push_back({array.name, array.dtype, array.shape});
    if (storage == Storage::kF16 && array.dtype == DataType::kF32 && exceeds_f16(array))
      plan.keep_f32.insert(array.name);
  }
  return plan;
}

void format_sample(const Sample& sample, Storage storage, const ByteSink& sink) {
  check_sample(sample);
  const SamplePlan plan = plan_of(sample, storage);
  const auto placed = place_arrays(plan.arrays, storage, plan.keep_f32);
  const std::string header = format_sample_header(sample.id, placed, sample.metadata);
  sink(std::as_bytes(std::span(header)));
  for (const PlacedArray& place : placed) {
    const auto array = std::find_if(sample.arrays.begin(), sample.arrays.end(),
                                    [&](const Array& one) { return one.name == place.plan.name; });
    if (place.stored == array->dtype) {
      sink(array->bytes);
    } else {
      sink(to_f16(*array).bytes);
    }
  }
}

std::string format_sample(const Sample& sample, Storage storage) {
  std::string file;
  format_sample(sample, storage, [&](std::span<const std::byte> bytes) {
    file.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  });
  return file;
}

std::string format_text_list(std::span<const std::string> texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(replace_invalid_utf8(text));
  return list.dump();
}

}  // namespace buoy::trace
