#include "buoy/checkpoint/checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/checkpoint/hub_cache.h"
#include "buoy/checkpoint/shard_index.h"

namespace buoy {
namespace {

namespace fs = std::filesystem;

std::optional<DType> weight_type(std::string_view name) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    if (name == name_of(dtype)) return dtype;
  }
  return std::nullopt;
}

// Tables some exporters store although they follow from the config.
bool is_derived(const std::string& name) {
  return name.ends_with("rotary_emb.inv_freq");
}

bool all_finite(const Weight& weight) {
  std::array<float, 4096> chunk;
  for (std::int64_t first = 0; first < weight.size(); first += chunk.size()) {
    const auto count = std::min<std::int64_t>(chunk.size(), weight.size() - first);
    to_float(weight, first, count, chunk.data());
    for (std::int64_t i = 0; i < count; ++i) {
      if (!std::isfinite(chunk[static_cast<size_t>(i)])) return false;
    }
  }
  return true;
}

// All files that a download lacks are named, not the first.
void expect_shards(const fs::path& folder, const std::set<std::string>& shards) {
  std::vector<std::string> missing;
  for (const auto& shard : shards) {
    std::error_code failure;
    if (!fs::exists(folder / shard, failure)) missing.push_back(shard);  // a link to nothing is none
  }
  if (missing.empty()) return;
  throw_input_error({(folder / "model.safetensors.index.json").string() + ": weight_map",
                     "files of this folder",
                     fmt::format("{} of {} that are not there: {}{}", missing.size(), shards.size(),
                                 fmt::join(missing, ", "), unfinished_downloads(folder))});
}

}  // namespace

Checkpoint Checkpoint::open(const fs::path& folder) {
  Checkpoint checkpoint;
  checkpoint.folder_ = folder;
  checkpoint.config_ = read_config(folder);
  const auto index = folder / "model.safetensors.index.json";
  const auto single = folder / "model.safetensors";
  if (path_exists(index)) {
    const auto weight_map = read_shard_index(index);
    std::set<std::string> shards;
    for (const auto& [tensor, shard] : weight_map) shards.insert(shard);
    expect_shards(folder, shards);
    for (const auto& shard : shards) checkpoint.add_file(folder / shard, &weight_map);
    for (const auto& [tensor, shard] : weight_map) {
      if (!checkpoint.has(tensor)) {
        throw_input_error(
            {(folder / shard).string(), fmt::format("tensor {} as the index says", tensor), "none"});
      }
    }
  } else if (path_exists(single)) {
    checkpoint.add_file(single, nullptr);
  } else {
    throw_input_error({folder.string(), "model.safetensors or model.safetensors.index.json",
                       "neither" + unfinished_downloads(folder)});
  }
  return checkpoint;
}

Checkpoint Checkpoint::without_weights(const fs::path& folder) {
  Checkpoint checkpoint;
  checkpoint.folder_ = folder;
  checkpoint.config_ = read_config(folder);
  return checkpoint;
}

void Checkpoint::add_file(const fs::path& path, const std::map<std::string, std::string>* weight_map) {
  MappedFile mapped(path);
  auto file = parse_safetensors(mapped.bytes(), path.string());
  for (auto& [name, tensor] : file.tensors) {
    if (weight_map != nullptr) {
      const auto entry = weight_map->find(name);
      if (entry == weight_map->end() || entry->second != path.filename()) {
        throw_input_error({fmt::format("{}: {}", path.string(), name), "an entry in the index for this file",
                           entry == weight_map->end() ? "no entry" : entry->second});
      }
    }
    tensors_.insert_or_assign(name, Entry{std::move(tensor), path.string()});
  }
  mapped_.push_back(std::move(mapped));
  files_.push_back(path);
}

Weight Checkpoint::weight(const std::string& name, const std::vector<std::int64_t>& shape) {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) {
    throw_input_error({folder_.string(), fmt::format("tensor {} of shape {}", name, describe_shape(shape)),
                       "no such tensor"});
  }
  const auto& [tensor, file] = found->second;
  const std::string where = fmt::format("{}: {}", file, name);
  const auto dtype = weight_type(tensor.dtype);
  if (!dtype) throw_input_error({where, "type F32, F16 or BF16", tensor.dtype});
  if (tensor.shape != shape) {
    throw_input_error({where, "shape " + describe_shape(shape), "shape " + describe_shape(tensor.shape)});
  }
  used_.insert(name);
  return Weight{aligned(tensor, *dtype), *dtype, shape};
}

// The format does not promise alignment, the number types need it.
const std::byte* Checkpoint::aligned(const SafetensorsEntry& tensor, DType dtype) {
  const std::byte* stored = tensor.data.data();
  if (reinterpret_cast<std::uintptr_t>(stored) % size_of(dtype) == 0) return stored;
  auto& copy = realigned_.emplace_back(tensor.data.size());
  std::memcpy(copy.data(), stored, tensor.data.size());
  return copy.data();
}

void Checkpoint::refuse_unused() const {
  for (const auto& [name, entry] : tensors_) {
    if (used_.contains(name) || is_derived(name)) continue;
    throw_input_error(
        {fmt::format("{}: {}", entry.file, name),
         fmt::format("only tensors of a {} with {} layers", config_.architecture, config_.layers),
         "a tensor it does not have"});
  }
}

std::uint64_t Checkpoint::weight_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [name, entry] : tensors_) bytes += entry.tensor.data.size();
  return bytes;
}

std::uint64_t Checkpoint::parameters() const {
  std::uint64_t count = 0;
  for (const auto& [name, entry] : tensors_) {
    count += entry.tensor.data.size() / safetensors_element_size(entry.tensor.dtype);
  }
  return count;
}

std::vector<std::string> Checkpoint::tensor_names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : tensors_) names.push_back(name);
  return names;
}

std::vector<fs::path> Checkpoint::files() const {
  return files_;
}

std::string Checkpoint::stored_types() const {
  std::set<std::string> types;
  for (const auto& [name, entry] : tensors_) types.insert(entry.tensor.dtype);
  return fmt::format("{}", fmt::join(types, ", "));
}

std::string Checkpoint::find_non_finite() const {
  for (const auto& [name, entry] : tensors_) {
    const auto dtype = weight_type(entry.tensor.dtype);
    if (dtype && !all_finite(Weight{entry.tensor.data.data(), *dtype, entry.tensor.shape})) return name;
  }
  return "";
}

}  // namespace buoy
