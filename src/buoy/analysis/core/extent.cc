#include "buoy/analysis/core/extent.h"

#include <fmt/format.h>

#include "buoy/base/error.h"
#include "buoy/trace/array.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {

void require_layers(const SampleFacts& sample, const trace::Manifest& manifest) {
  for (const auto layer : sample.layers) {
    if (layer < 0 || layer >= manifest.model.layers) {
      throw_input_error({fmt::format("sample {}: {}", sample.id(), trace::kLayers),
                         fmt::format("layers below {}", manifest.model.layers), fmt::format("{}", layer)});
    }
  }
}

void require_shape(const SampleFacts& sample, std::string_view array,
                   const std::vector<std::int64_t>& shape) {
  require_array(sample, array);
  const auto& found = sample.shape(array);
  bool same = found.size() == shape.size();
  for (size_t i = 0; same && i < shape.size(); ++i) same = shape[i] < 0 || found[i] == shape[i];
  if (!same) {
    throw_input_error({fmt::format("sample {}: {}", sample.id(), array),
                       fmt::format("shape {} (-1: any)", trace::describe_shape(shape)),
                       fmt::format("shape {}", trace::describe_shape(found))});
  }
}

}  // namespace buoy::analysis
