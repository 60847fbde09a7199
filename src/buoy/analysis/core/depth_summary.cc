#include "buoy/analysis/core/depth_summary.h"

#include <span>

#include "buoy/base/error.h"
#include "buoy/stats/moments.h"
#include "buoy/stats/rank_correlation.h"

namespace buoy::analysis {

DepthSummary::DepthSummary(std::int64_t quantities, const stats::BootstrapOptions& options)
    : quantities_(quantities), bootstrap_(quantities * kPartCount, options) {}

void DepthSummary::add(std::string_view sample_id, const LayerAxis& axis, const std::vector<double>& values) {
  const auto layers = static_cast<size_t>(axis.size());
  BUOY_CHECK(values.size() == static_cast<size_t>(quantities_) * layers);
  std::vector<double> depths;
  for (std::int64_t l = 0; l < axis.size(); ++l) depths.push_back(axis.depth(l));
  std::vector<double> parts;
  for (size_t q = 0; q < static_cast<size_t>(quantities_); ++q) {
    const std::span<const double> of_layers(values.data() + q * layers, layers);
    stats::Moments means(4);
    for (std::int64_t l = 0; l < axis.size(); ++l) {
      means.add(0, of_layers[static_cast<size_t>(l)]);
      means.add(1 + axis.third(l), of_layers[static_cast<size_t>(l)]);
    }
    for (std::int64_t part = 0; part < 4; ++part) parts.push_back(means.mean(part));
    parts.push_back(means.mean(3) - means.mean(1));
    parts.push_back(stats::slope(depths, of_layers));
  }
  bootstrap_.add(sample_id, parts);
}

stats::Estimate DepthSummary::interval(std::int64_t quantity, std::int64_t part) const {
  return bootstrap_.interval(quantity * kPartCount + part);
}

stats::Estimate DepthSummary::ratio(std::int64_t above, std::int64_t below, std::int64_t part) const {
  BUOY_CHECK(part < 4);
  return bootstrap_.ratio(above * kPartCount + part, bootstrap_, below * kPartCount + part);
}

}  // namespace buoy::analysis
