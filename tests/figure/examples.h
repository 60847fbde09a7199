#pragma once

#include <string>
#include <vector>

#include "buoy/figure/chart/figure.h"
#include "buoy/figure/layout/scene.h"
#include "buoy/figure/layout/text_measure.h"

namespace buoy::figure::testing {

// A font whose letters are all equally wide: layouts measured with it are the same on every machine.
class FixedMeasure : public TextMeasure {
 public:
  double width(const std::string& text, const TextStyle& style) const override;
};

Matrix ramp(size_t rows, size_t columns);  // 0 to 1, row by row

// One of every kind, of the size they have in a paper.
Heatmap example_steps();  // token names, marks of all kinds, cells without data
LineChart example_lines();
BarChart example_bars();
DotChart example_dots();
Heatmap example_flow();
TokenStrip example_strip(size_t tokens);

Figure figure_of(Panel panel);
Figure example_page();  // all of them, in three columns
std::vector<Figure> all_examples();

std::vector<Text> texts_of(const Scene& scene);
std::vector<std::string> words_of(const Scene& scene, TextRole role);
std::vector<Rect> areas_of(const Scene& scene, AreaKind kind);

}  // namespace buoy::figure::testing
