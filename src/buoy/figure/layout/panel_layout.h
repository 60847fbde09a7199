#pragma once

#include <memory>

#include "buoy/figure/chart/figure.h"
#include "buoy/figure/layout/axis_labels.h"
#include "buoy/figure/layout/color_bar.h"
#include "buoy/figure/layout/legend.h"

namespace buoy::figure {

// Room around a plot for its labels, legend and colour bar.
struct Insets {
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;
};

struct PanelPlace {
  Rect plot;
  double left = 0;  // edges of all that belongs to the panel
  double right = 0;
};

// A panel whose ticks and labels are chosen but that has no place on the page yet.
class PanelLayout {
 public:
  virtual ~PanelLayout() = default;
  virtual Insets insets() const = 0;
  virtual double natural_height(double plot_width) const = 0;  // of the plot
  virtual bool names_fit() const { return true; }              // at the ends of curves, where asked for
  virtual void draw(const PanelPlace& place, Scene& scene) const = 0;
};

// What a panel is told before it chooses.
struct PanelPlan {
  Size plot;                             // the plot's size, as far as is known yet
  LegendRoom legend;                     // likewise
  const ResolvedScale* scale = nullptr;  // of panels with colours
  bool draws_color_bar = true;
  bool names_at_ends = true;  // of curves; otherwise all are in the legend
};

// Each keeps references to what it is given.
std::unique_ptr<PanelLayout> make_matrix_panel(const Look& look, const Heatmap& map, const PanelPlan& plan);
std::unique_ptr<PanelLayout> make_line_panel(const Look& look, const LineChart& chart, const PanelPlan& plan);
std::unique_ptr<PanelLayout> make_bar_panel(const Look& look, const BarChart& chart, const PanelPlan& plan);
std::unique_ptr<PanelLayout> make_dot_panel(const Look& look, const DotChart& chart, const PanelPlan& plan);
std::unique_ptr<PanelLayout> make_strip_panel(const Look& look, const TokenStrip& strip,
                                              const PanelPlan& plan);

// Axes and legend, which all plots but the strip have.
struct PanelFrame {
  AxisLabels x;
  AxisLabels y;
  Legend legend;

  Insets insets(const Look& look) const;
  void draw(const Look& look, const PanelPlace& place, Scene& scene) const;
};

// The legend's entry of cells and tokens without a value.
LegendEntry no_data_entry(const Look& look);

}  // namespace buoy::figure
