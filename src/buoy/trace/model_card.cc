#include "buoy/trace/model_card.h"

#include <fmt/format.h>

namespace buoy::trace {

std::optional<Mismatch> find_mismatch(const ModelCard& model) {
  for (const auto& [name, size, most] : kSizeLimits) {
    if (model.*size < 1 || model.*size > most)
      return Mismatch{name, fmt::format("an integer from 1 to {}", most), std::to_string(model.*size)};
  }
  if (model.heads % model.kv_heads != 0)
    return Mismatch{"kv_heads", fmt::format("a divisor of {} heads", model.heads),
                    std::to_string(model.kv_heads)};
  if (model.layers * model.heads > kMostHeadsOfAllLayers)
    return Mismatch{"layers", fmt::format("at most {} heads in all layers", kMostHeadsOfAllLayers),
                    fmt::format("{} layers of {} heads", model.layers, model.heads)};
  return std::nullopt;
}

}  // namespace buoy::trace
