#pragma once

#include "buoy/figure/layout/panel_layout.h"

// What charts of groups share (bars, dots): names of groups below, numbers at the left, spines, a line to
// compare with.
namespace buoy::figure {

struct GroupFrame {
  NumberAxis y;
  CellAxis groups;

  GroupFrame(const std::string& y_title, const Range& range, const std::vector<std::string>& names,
             const PanelPlan& plan)
      : y{Side::kLeft, y_title, range, false, TickStep::kAny, plan.plot.height}, groups{"", names, 0, 1} {}

  // Names may take at least so many sizes of the font, however narrow the groups are.
  PanelFrame make(const Look& look, const PanelPlan& plan, double least_names,
                  std::vector<LegendEntry> entries) const;
  double height_of(double value, const Rect& plot) const { return plot.y + y.at(value) * plot.height; }
  // The middle share of what a group has of the plot.
  Rect room_of(size_t group, double share, const Rect& plot) const;
};

void draw_spines(const Look& look, const Rect& plot, Scene& scene);
Stroke reference_stroke(const Look& look);  // of nulls and other values that charts compare with

}  // namespace buoy::figure
