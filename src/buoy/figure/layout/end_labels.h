#pragma once

#include <string>
#include <vector>

#include "buoy/figure/layout/look.h"
#include "buoy/figure/layout/scene.h"

namespace buoy::figure {

// The name of a curve at its right end.
struct EndLabel {
  std::string name;
  double at = 0;  // 0 to 1 from the top of the plot
  Color color;
};

// Names of curves beside a plot, so that no legend has to be read. Ends that lie close together have their
// names moved apart, by a line at most.
class EndLabels {
 public:
  EndLabels(const Look& look, std::vector<EndLabel> labels, double most_width);

  bool fit(double plot_height) const;         // every name whole, beside its own curve
  double width() const;                       // room right of the plot; 0 without labels
  double overhang(double plot_height) const;  // room past the ends of the plot
  void draw(const Rect& plot, Scene& scene) const;

 private:
  double height(size_t label) const;
  std::vector<double> middles(double plot_height) const;

  Look look_;
  std::vector<EndLabel> labels_;                 // from top to bottom
  std::vector<std::vector<std::string>> lines_;  // of each
  bool whole_ = true;
};

}  // namespace buoy::figure
