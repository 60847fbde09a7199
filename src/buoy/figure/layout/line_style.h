#pragma once

#include "buoy/figure/layout/look.h"
#include "buoy/figure/layout/scene.h"

namespace buoy::figure {

// Series differ in colour, dashes and markers, so that they can be told apart without colour.
Stroke series_stroke(const Look& look, size_t index);
Shape series_marker(const Look& look, size_t index, const Point& middle);
Shape thin_marker(const Look& look, const Color& color, const Point& middle);  // a cross

}  // namespace buoy::figure
