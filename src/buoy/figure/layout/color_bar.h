#pragma once

#include "buoy/figure/chart/color_scale.h"
#include "buoy/figure/layout/axis_labels.h"

namespace buoy::figure {

enum class BarDirection { kUp, kRight };

// Colours beside their values. An end at which values were clipped is pointed and labelled with a limit.
class ColorBar {
 public:
  struct Request {
    const ResolvedScale& scale;
    BarDirection direction = BarDirection::kUp;
    double length = 0;  // as far as is known yet
    double spare = 0;   // past the lower end, for a long label
  };
  ColorBar(const Look& look, const Request& request);

  double depth() const { return look_.bar_thickness() + labels_.depth(); }
  double overhang() const { return labels_.overhang(); }
  void draw(const Rect& box, Scene& scene) const;  // as long as the bar, at least depth() across

 private:
  static AxisLabels make_labels(const Look& look, const Request& request);
  double point_length() const { return 5 * look_.unit(); }
  void draw_points(const Rect& bar, Scene& scene) const;

  Look look_;
  BarDirection direction_;
  ColorMap map_;
  bool clips_low_;
  bool clips_high_;
  AxisLabels labels_;
};

}  // namespace buoy::figure
