#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "buoy/analysis/core/axes.h"
#include "buoy/stats/streamed_bootstrap.h"

namespace buoy::analysis {

// How a quantity lies over the depth of a model: its mean over all layers and over each third, the last minus
// the first third, and the least-squares slope over relative depth (0 first layer, 1 last), each computed per
// sample, with intervals over samples.
class DepthSummary {
 public:
  static constexpr std::array<std::string_view, 6> kParts = {
      "all layers", "first third", "middle third", "last third", "last minus first third", "slope"};
  static constexpr auto kPartCount = static_cast<std::int64_t>(kParts.size());
  static constexpr bool is_mean(std::int64_t part) {
    return part < 4;
  }  // over layers; others are differences

  DepthSummary(std::int64_t quantities, const stats::BootstrapOptions& options);

  // [quantity, layer]; NaN: this sample has none.
  void add(std::string_view sample_id, const LayerAxis& axis, const std::vector<double>& values);
  stats::Estimate interval(std::int64_t quantity, std::int64_t part) const;
  // Of the ratio of two quantities' means; only for the first four parts.
  stats::Estimate ratio(std::int64_t above, std::int64_t below, std::int64_t part) const;

 private:
  std::int64_t quantities_;
  stats::StreamedBootstrap bootstrap_;
};

}  // namespace buoy::analysis
