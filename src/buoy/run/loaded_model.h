#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "buoy/model/model.h"
#include "buoy/text/tokenizer/tokenizer.h"

namespace buoy::run {

bool has_tokenizer(const std::filesystem::path& folder);
// A token without an embedding row would crash any model: refused here, where both are known.
void check_vocabulary(const text::Tokenizer& tokenizer, const ModelConfig& config,
                      const std::filesystem::path& folder);

// The tokenizer of a folder, checked against the model; nothing when there is none. InputError for one that
// Buoy does not know or that does not fit.
std::optional<text::Tokenizer> load_tokenizer(const std::filesystem::path& folder, const ModelConfig& config);

// A model with the tokenizer of its folder, if there is one that can be used.
struct LoadedModel {
  model::Model model;
  std::optional<text::Tokenizer> tokenizer;
};
LoadedModel load_model(const std::filesystem::path& folder, Device device = Device::kCpu);
// The network of the folder's config before any training (Model::untrained), with the folder's tokenizer.
LoadedModel make_untrained(const std::filesystem::path& folder, std::uint64_t seed,
                           Device device = Device::kCpu);

// The tokenizer, or an InputError that says what the folder lacks.
const text::Tokenizer& need_tokenizer(const std::optional<text::Tokenizer>& tokenizer,
                                      const std::filesystem::path& folder);

}  // namespace buoy::run
