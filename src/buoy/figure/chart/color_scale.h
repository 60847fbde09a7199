#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "buoy/figure/chart/color.h"
#include "buoy/figure/chart/ticks.h"

namespace buoy::figure {

enum class ScaleKind {
  kLinear,
  kLog,        // zero and less are shown as the smallest positive value, and the colour bar says so
  kDiverging,  // as far below `center` as above it
};

// How values become colours.
struct ColorScale {
  ScaleKind kind = ScaleKind::kLinear;
  ColorMap map = ColorMap::kViridis;
  std::string label;  // beside the colour bar
  double center = 0;  // of a diverging scale
  // Limits are the least and greatest finite values unless given here; a linear scale begins at 0 where the
  // least value is near it, a diverging one takes the wider side.
  std::optional<double> low;
  std::optional<double> high;
  // Where `low` or `high` is not given: quantiles of the values beyond which colours no longer change. On a
  // diverging scale clip_high is a quantile of the distances from the centre.
  double clip_low = 0;
  double clip_high = 1;

  bool operator==(const ColorScale&) const = default;
};

// A scale with its limits found.
class ResolvedScale {
 public:
  // Throws UsageError for limits or quantiles that make no sense.
  ResolvedScale(ColorScale scale, std::span<const double> values);

  const ColorScale& description() const { return scale_; }
  const Range& range() const { return range_; }
  bool clips_low() const { return clips_low_; }  // some value lies below the range
  bool clips_high() const { return clips_high_; }
  bool has_data() const { return has_data_; }  // some value is not NaN

  double position(double value) const;  // 0 at the lower limit, 1 at the upper; NaN of NaN
  Color color(double value) const;      // not for NaN
  std::vector<Tick> ticks(int most) const;

 private:
  void find_limits(std::span<const double> values);
  void widen_if_empty();

  ColorScale scale_;
  Range range_;
  bool clips_low_ = false;
  bool clips_high_ = false;
  bool has_data_ = false;
};

}  // namespace buoy::figure
