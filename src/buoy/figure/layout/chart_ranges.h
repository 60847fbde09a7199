#pragma once

#include "buoy/figure/chart/figure.h"
#include "buoy/figure/chart/ticks.h"

namespace buoy::figure {

// What of an axis a chart shows: the limits it names, otherwise what its values need.
Range x_range(const LineChart& chart);
Range y_range(const LineChart& chart);
Range y_range(const BarChart& chart);
Range y_range(const DotChart& chart);

bool leaves_values_out(const LineChart& chart);  // on a log axis: zero and less

// Charts of one quantity on one scale share the range that all of them need.
Figure with_shared_ranges(Figure figure);

}  // namespace buoy::figure
