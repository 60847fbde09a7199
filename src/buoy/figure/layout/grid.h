#pragma once

#include <memory>
#include <vector>

#include "buoy/figure/chart/color_scale.h"
#include "buoy/figure/chart/figure.h"
#include "buoy/figure/layout/look.h"
#include "buoy/figure/layout/panel_layout.h"
#include "buoy/figure/layout/scene.h"

namespace buoy::figure {

// The panels in rows and columns. Plots of a column share their left edge, plots of a row their top and
// bottom.
class Grid {
 public:
  // One scale for each panel. A body without height is as high as the panels want. Keeps references. Throws
  // UsageError when a plot would have no room.
  Grid(const Look& look, const Figure& figure, const std::vector<ResolvedScale>& scales, const Rect& body);

  double height() const;
  void draw(Scene& scene) const;

 private:
  struct Row {
    double top = 0;     // above the plots, with the titles
    double bottom = 0;  // below them
    double wish = 0;    // natural height of the highest plot
    double plot = 0;
  };

  void plan_with_names();
  void plan_all();
  void plan(std::vector<Size>& plots);
  void share_height();
  Rect plot_of(size_t panel) const;
  double title_height(size_t panel) const;
  std::vector<std::string> title_lines(size_t panel) const;
  double letter_width() const;
  double cell_width() const;
  double gutter() const { return 1.6 * look_.font; }

  Look look_;
  const Figure& figure_;
  const std::vector<ResolvedScale>& scales_;
  Rect body_;
  std::vector<std::unique_ptr<PanelLayout>> panels_;
  std::vector<Row> rows_;
  std::vector<double> lefts_;        // of each column: room for what is left of its plots
  std::vector<double> rights_;       // of each panel
  std::vector<bool> names_at_ends_;  // of the curves of each panel
};

}  // namespace buoy::figure
