#pragma once

#include "buoy/figure/chart/figure.h"
#include "buoy/figure/layout/scene.h"
#include "buoy/figure/layout/text_measure.h"

namespace buoy::figure {

// Where everything goes. Texts never overlap, leave the page or cover data: tick labels are thinned, titles
// and legends wrapped, then shortened. Throws UsageError when check_figure does, and when the page is too
// small for its panels.
Scene lay_out(const Figure& figure, const TextMeasure& measure, Theme theme = Theme::kPaper);

}  // namespace buoy::figure
