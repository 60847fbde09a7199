#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "buoy/analysis/core/state_archive.h"
#include "buoy/analysis/sample/position_classes.h"
#include "buoy/stats/moments.h"
#include "buoy/stats/streamed_bootstrap.h"

namespace buoy::analysis {

// One class of positions among what a rule selects.
struct CompositionCell {
  stats::Estimate share;  // of the selected positions, mean over samples
  double base = 0;  // the same share among all positions of the same steps: what a random set would have
  double lift = 0;  // share / base; NaN where the base is 0
};

// What the selected positions of one sample are, for many sets (layers, rules, views) at once.
class CompositionCounts {
 public:
  explicit CompositionCounts(std::int64_t sets);

  // The positions one rule selected at the forward that `classes` is of.
  void count(std::int64_t set, const PositionClasses& classes, const std::vector<std::int32_t>& positions);

  void state(StateArchive& archive);

 private:
  friend class Composition;
  std::vector<double> selected_;           // [sets]
  std::vector<double> in_class_, chance_;  // [sets, classes]
};

// The same over samples. A sample counts once, however many positions it brings.
class Composition {
 public:
  Composition(std::int64_t sets, const stats::BootstrapOptions& options);

  // Returns this sample's shares, [sets, classes]; NaN where the set was always empty.
  std::vector<double> add(std::string_view sample_id, const CompositionCounts& sample);

  CompositionCell cell(std::int64_t set, std::int64_t position_class) const;

 private:
  std::int64_t classes_;
  stats::StreamedBootstrap shares_;
  stats::Moments bases_;
};

}  // namespace buoy::analysis
