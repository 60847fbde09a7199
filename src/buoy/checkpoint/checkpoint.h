#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "buoy/base/container/safetensors.h"
#include "buoy/base/file/mapped_file.h"
#include "buoy/checkpoint/config.h"
#include "buoy/tensor/buffer.h"
#include "buoy/tensor/weight.h"

namespace buoy {

// A Hugging Face folder: its config and its weights, mapped and checked. Weights point into this object.
class Checkpoint {
 public:
  static Checkpoint open(const std::filesystem::path& folder);
  // The config alone, for a network whose weights are made and not read (model/untrained.h).
  static Checkpoint without_weights(const std::filesystem::path& folder);

  const ModelConfig& config() const { return config_; }
  const std::filesystem::path& folder() const { return folder_; }

  bool has(const std::string& name) const { return tensors_.contains(name); }
  // The tensor, after checking that it exists with this shape and a type Buoy reads.
  Weight weight(const std::string& name, const std::vector<std::int64_t>& shape);
  // Refuses tensors nobody asked for: a sign that the config does not describe these weights.
  void refuse_unused() const;

  std::uint64_t weight_bytes() const;
  std::uint64_t parameters() const;
  std::vector<std::string> tensor_names() const;
  std::vector<std::filesystem::path> files() const;
  std::string stored_types() const;  // "BF16", or "BF16, F32"

  // Name of the first tensor that holds a NaN or an infinity, "" if none does. Reads every weight.
  std::string find_non_finite() const;

 private:
  struct Entry {
    SafetensorsEntry tensor;
    std::string file;
  };

  const std::byte* aligned(const SafetensorsEntry& tensor, DType dtype);
  void add_file(const std::filesystem::path& path, const std::map<std::string, std::string>* weight_map);

  std::filesystem::path folder_;
  ModelConfig config_;
  std::vector<MappedFile> mapped_;
  std::vector<std::filesystem::path> files_;
  std::map<std::string, Entry> tensors_;
  std::set<std::string> used_;
  std::vector<Buffer<std::byte>> realigned_;  // copies of tensors a file stores at odd addresses
};

}  // namespace buoy
