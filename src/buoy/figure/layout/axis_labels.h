#pragma once

#include <string>
#include <vector>

#include "buoy/figure/chart/heatmap.h"
#include "buoy/figure/chart/ticks.h"
#include "buoy/figure/layout/look.h"
#include "buoy/figure/layout/scene.h"

namespace buoy::figure {

enum class Side { kLeft, kBottom, kRight };

struct AxisTick {
  double at = 0;  // 0 to 1, from the left or from the top
  std::string text;
  bool keep = false;  // when labels are thinned
};

struct AxisRequest {
  Side side = Side::kBottom;
  std::string title;
  std::vector<AxisTick> ticks;
  double length = 0;      // of the axis, as far as is known yet
  double most_depth = 0;  // longest name that is not shortened
  double spare = 0;       // past the lower end of an upright axis, for titles too long for it
  bool may_turn = false;  // names below an axis are wrapped, or else turned upward, when they do not fit
};

// The ticks, their labels and the title along one side of a plot.
class AxisLabels {
 public:
  AxisLabels(const Look& look, AxisRequest request);

  double depth() const;     // room it takes beside the plot
  double overhang() const;  // room it may take past the ends of the axis
  bool fits() const { return shown(request_.length).size() == request_.ticks.size(); }
  void draw(const Rect& plot, Scene& scene) const;

 private:
  double extent(size_t tick) const;  // along the axis
  double label_gap() const { return look_.tick() + 0.34 * look_.font; }
  bool wrap_labels();  // false: they do not fit in lines either, and nothing has changed
  std::vector<size_t> shown(double length) const;
  bool collide(size_t one, size_t other, double length) const;
  std::vector<std::string> title_lines(double length, size_t most) const;
  void draw_title(const Rect& plot, Scene& scene) const;

  Look look_;
  AxisRequest request_;
  bool turned_ = false;
  std::vector<std::vector<std::string>> lines_;  // of each label
  std::vector<double> widths_;                   // of the labels
  double label_depth_ = 0;
  bool long_title_ = false;
  size_t title_lines_ = 0;
};

struct NumberAxis {
  Side side = Side::kBottom;
  std::string title;
  Range range;
  bool log = false;
  TickStep step = TickStep::kAny;
  double length = 0;
  double spare = 0;

  double at(double value) const;  // 0 to 1 from the left or from the top
};
AxisLabels number_labels(const Look& look, const NumberAxis& axis);

// Labels in the middle of `count` cells.
struct CellLabels {
  Side side = Side::kBottom;
  const CellAxis& axis;
  size_t count = 0;
  bool from_bottom = false;
  double length = 0;
  double most_depth = 0;
  double spare = 0;
};
AxisLabels cell_labels(const Look& look, const CellLabels& cells);

}  // namespace buoy::figure
