#include "buoy/analysis/core/axes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "buoy/base/error.h"

namespace buoy::analysis {

std::string_view view_name(std::int64_t view) {
  return view == kHeadMean ? "head_mean" : "per_head";
}

LayerAxis::LayerAxis(const trace::Manifest& manifest)
    : model_layers_(manifest.model.layers), heads_(manifest.model.heads) {}

void LayerAxis::take(const SampleFacts& sample) {
  if (layers_.empty()) {
    layers_ = sample.layers;
    if (!layers_.empty()) model_layers_ = std::max<std::int64_t>(model_layers_, layers_.back() + 1);
  } else if (sample.layers != layers_) {
    throw_input_error({"sample " + sample.id(), fmt::format("layers {} as in the first sample", layers_),
                       fmt::format("layers {}", sample.layers)});
  }
}

double LayerAxis::depth(std::int64_t l) const {
  return model_layers_ > 1 ? static_cast<double>(number(l)) / static_cast<double>(model_layers_ - 1) : 0.0;
}

std::int64_t LayerAxis::third(std::int64_t l) const {
  return number(l) < model_layers_ / 3 ? 0 : number(l) < 2 * model_layers_ / 3 ? 1 : 2;
}

std::int64_t LayerAxis::index_of(std::int64_t layer) const {
  const auto at = std::find(layers_.begin(), layers_.end(), layer);
  if (at == layers_.end())
    throw_usage_error({"layer", fmt::format("one of the observed, {}", layers_), std::to_string(layer)});
  return at - layers_.begin();
}

double relative_step(const SampleFacts& sample, std::int64_t s) {
  if (!sample.masked_diffusion || sample.steps.empty()) return 1.0;
  const std::int32_t last = std::max(sample.last_step, sample.steps.back());
  return last > 0 ? static_cast<double>(sample.steps[static_cast<size_t>(s)]) / last : 1.0;
}

std::int64_t step_bin(const SampleFacts& sample, std::int64_t s) {
  return std::min(kStepBins - 1,
                  static_cast<std::int64_t>(relative_step(sample, s) * static_cast<double>(kStepBins)));
}

}  // namespace buoy::analysis
