#include "buoy/base/container/safetensors.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/file/json_file.h"
#include "buoy/base/file/lfs_pointer.h"
#include "buoy/base/utf8.h"

namespace buoy {
namespace {

constexpr std::uint64_t kHeaderLimit = 100'000'000;  // the format's own limit
constexpr size_t kMostDimensions = 16;

constexpr std::array<std::pair<std::string_view, size_t>, 15> kElementSizes = {{{"BOOL", 1},
                                                                                {"U8", 1},
                                                                                {"I8", 1},
                                                                                {"F8_E5M2", 1},
                                                                                {"F8_E4M3", 1},
                                                                                {"I16", 2},
                                                                                {"U16", 2},
                                                                                {"F16", 2},
                                                                                {"BF16", 2},
                                                                                {"I32", 4},
                                                                                {"U32", 4},
                                                                                {"F32", 4},
                                                                                {"I64", 8},
                                                                                {"U64", 8},
                                                                                {"F64", 8}}};

struct Extent {
  std::uint64_t begin;
  std::uint64_t end;
  std::string name;
};

std::uint64_t required_offset(const Json& value, const std::string& where) {
  if (!value.is_number_unsigned()) {
    throw_input_error({where, "a non-negative integer", describe_json(value)});
  }
  return value.get<std::uint64_t>();
}

// Elements times element size, or InputError when it does not fit 64 bits.
std::uint64_t byte_count(const std::vector<std::int64_t>& shape, size_t element_size,
                         const std::string& where) {
  std::uint64_t bytes = element_size;
  for (const auto extent : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) {
      throw_input_error({where, "a tensor of less than 2^64 bytes", "a larger shape"});
    }
  }
  return bytes;
}

SafetensorsEntry parse_entry(const Json& json, std::span<const std::byte> data, const std::string& where,
                             Extent& extent) {
  const JsonObject object(json, where);
  SafetensorsEntry entry;
  entry.dtype = object.required_text("dtype");
  const size_t element_size = safetensors_element_size(entry.dtype);
  if (element_size == 0) object.fail("dtype", "a safetensors type such as F32, F16 or BF16");

  const Json* shape = object.find("shape");
  if (shape == nullptr || !shape->is_array()) object.fail("shape", "a list of sizes");
  if (shape->size() > kMostDimensions) object.fail("shape", fmt::format("at most {} sizes", kMostDimensions));
  for (const Json& size : *shape) {
    const std::uint64_t value = required_offset(size, where + ": shape");
    if (value > INT64_MAX) object.fail("shape", "64-bit sizes");
    entry.shape.push_back(static_cast<std::int64_t>(value));
  }

  const Json* offsets = object.find("data_offsets");
  if (offsets == nullptr || !offsets->is_array() || offsets->size() != 2) {
    object.fail("data_offsets", "a list [begin, end]");
  }
  extent.begin = required_offset((*offsets)[0], where + ": data_offsets");
  extent.end = required_offset((*offsets)[1], where + ": data_offsets");
  if (extent.begin > extent.end || extent.end > data.size()) {
    throw_input_error({where + ": data_offsets",
                       fmt::format("begin <= end <= {} (the data in the file)", data.size()),
                       fmt::format("[{}, {}]", extent.begin, extent.end)});
  }
  const std::uint64_t needed = byte_count(entry.shape, element_size, where);
  if (extent.end - extent.begin != needed) {
    throw_input_error({where + ": data_offsets", fmt::format("{} bytes for its shape and type", needed),
                       fmt::format("{} bytes", extent.end - extent.begin)});
  }
  entry.data = data.subspan(extent.begin, needed);
  return entry;
}

void check_layout(std::vector<Extent>& extents, std::uint64_t data_size, const std::string& name) {
  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  std::uint64_t at = 0;
  for (const Extent& extent : extents) {
    if (extent.begin != at) {
      throw_input_error({fmt::format("{}: {}", name, extent.name), fmt::format("data to begin at {}", at),
                         fmt::format("begin {} ({})", extent.begin, extent.begin < at ? "overlap" : "gap")});
    }
    at = extent.end;
  }
  if (at != data_size) {
    throw_input_error({name, fmt::format("{} bytes of tensor data as the header says", at),
                       fmt::format("{} bytes", data_size)});
  }
}

void require_utf8(const std::string& text, const std::string& where) {
  const size_t valid = first_invalid_utf8(text);
  if (valid < text.size()) throw_input_error({where, "UTF-8", fmt::format("an invalid byte at {}", valid)});
}

}  // namespace

size_t safetensors_element_size(std::string_view dtype) {
  for (const auto& [name, size] : kElementSizes) {
    if (name == dtype) return size;
  }
  return 0;
}

std::string_view safetensors_header(std::span<const std::byte> bytes, const std::string& name) {
  if (bytes.size() < 8) {
    throw_input_error(
        {name, "a safetensors file of at least 8 bytes", fmt::format("{} bytes", bytes.size())});
  }
  if (is_lfs_pointer({reinterpret_cast<const char*>(bytes.data()), bytes.size()}))
    throw_input_error({name, "a safetensors file", "a Git LFS pointer in place of it (git lfs pull)"});
  std::uint64_t header_size = 0;
  for (int i = 7; i >= 0; --i) header_size = header_size << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  if (header_size > kHeaderLimit || header_size > bytes.size() - 8) {
    throw_input_error(
        {name + ": header",
         fmt::format("at most {} bytes", std::min<std::uint64_t>(kHeaderLimit, bytes.size() - 8)),
         fmt::format("a declared length of {}", header_size)});
  }
  return {reinterpret_cast<const char*>(bytes.data()) + 8, header_size};
}

SafetensorsFile parse_safetensors(std::span<const std::byte> bytes, const std::string& name) {
  const std::string_view header = safetensors_header(bytes, name);
  const auto data = bytes.subspan(8 + header.size());
  const Json json = parse_json(header, name + ": header");
  if (!json.is_object()) throw_input_error({name + ": header", "a JSON object", describe_json(json)});

  SafetensorsFile file;
  std::vector<Extent> extents;
  for (const auto& [key, value] : json.items()) {
    if (key == "__metadata__") {
      const JsonObject metadata(value, name + ": __metadata__");
      for (const auto& item : value.items()) file.metadata[item.key()] = metadata.required_text(item.key());
      continue;
    }
    Extent extent{0, 0, key};
    file.tensors.emplace(key, parse_entry(value, data, fmt::format("{}: {}", name, key), extent));
    extents.push_back(std::move(extent));
  }
  check_layout(extents, data.size(), name);
  return file;
}

std::string format_safetensors_header(std::span<const SafetensorsHeaderEntry> tensors,
                                      const std::map<std::string, std::string>& metadata,
                                      std::size_t alignment) {
  BUOY_CHECK(alignment > 0 && alignment % 8 == 0);
  // Put together as text: the JSON library's ordered objects look through all names for every new one.
  std::string text = "{";
  const auto add = [&](const std::string& key, const nlohmann::ordered_json& value) {
    text += fmt::format("{}{}:{}", text.size() > 1 ? "," : "", dump_json(nlohmann::ordered_json(key)),
                        dump_json(value));
  };
  for (const auto& [key, value] : metadata) {
    require_utf8(key, "__metadata__");
    require_utf8(value, "__metadata__: " + key);
  }
  if (!metadata.empty()) add("__metadata__", metadata);
  std::set<std::string_view> names = {"__metadata__"};
  std::uint64_t at = 0;
  for (const auto& tensor : tensors) {
    require_utf8(tensor.name, "a tensor's name");
    BUOY_CHECK(names.insert(tensor.name).second);
    BUOY_CHECK(safetensors_element_size(tensor.dtype) > 0);
    BUOY_CHECK(byte_count(tensor.shape, safetensors_element_size(tensor.dtype), tensor.name) == tensor.bytes);
    add(tensor.name,
        {{"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {at, at + tensor.bytes}}});
    at += tensor.bytes;
  }
  text += "}";
  text.resize((8 + text.size() + alignment - 1) / alignment * alignment - 8, ' ');
  std::string bytes(8, '\0');
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(text.size() >> (8 * i));
  return bytes + text;
}

std::string format_safetensors(std::span<const SafetensorsTensor> tensors,
                               const std::map<std::string, std::string>& metadata) {
  std::vector<SafetensorsHeaderEntry> entries;
  for (const auto& tensor : tensors)
    entries.push_back({tensor.name, tensor.dtype, tensor.shape, tensor.data.size()});
  std::string bytes = format_safetensors_header(entries, metadata);
  for (const auto& tensor : tensors)
    bytes.append(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
  return bytes;
}

}  // namespace buoy
