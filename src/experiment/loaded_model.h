#pragma once

#include <filesystem>
#include <optional>

#include "model/model.h"
#include "text/tokenizer.h"

namespace buoy::experiment {

bool has_tokenizer(const std::filesystem::path& folder);
// A token without an embedding row would crash any model: refused here, where both are known.
void check_vocabulary(const text::Tokenizer& tokenizer, const ModelConfig& config,
                      const std::filesystem::path& folder);

// A model with the tokenizer of its folder, if there is one, the two checked against each other.
struct LoadedModel {
  model::Model model;
  std::optional<text::Tokenizer> tokenizer;
};
LoadedModel load_model(const std::filesystem::path& folder, Device device = Device::kCpu);

// The tokenizer, or an InputError that says what the folder lacks.
const text::Tokenizer& need_tokenizer(const std::optional<text::Tokenizer>& tokenizer,
                                      const std::filesystem::path& folder);

}  // namespace buoy::experiment
