#pragma once

#include <functional>
#include <string>
#include <vector>

#include "buoy/figure/layout/look.h"
#include "buoy/figure/layout/scene.h"

namespace buoy::figure {

struct LegendEntry {
  std::string name;
  std::function<void(const Rect& sample, Scene& scene)> draw;  // none: a remark
};

struct LegendRoom {
  double width = 0;
  double indent = 0;  // kept on the left unless names need the room: the legend then begins below the plot
};

// Entries in columns, below a plot. Long names take several lines.
class Legend {
 public:
  Legend(const Look& look, std::vector<LegendEntry> entries, const LegendRoom& room);

  double height() const;  // 0 without entries
  // At the top of the box, whose height does not count.
  void draw(const Rect& box, double indent, Scene& scene) const;

 private:
  double sample_width() const;
  std::vector<double> column_widths(size_t columns) const;
  bool choose_columns(double width);

  Look look_;
  std::vector<LegendEntry> entries_;
  std::vector<double> columns_;  // widths; one that is as wide as the room when no name fits it
  bool indented_ = true;
  std::vector<size_t> row_lines_;  // lines of text in each row
};

}  // namespace buoy::figure
