#pragma once

#include <string>
#include <vector>

#include "buoy/figure/chart/figure.h"

namespace buoy::report {

// Takes out what has nothing to show: curves without points, panels without any value. Returns a sentence
// for each panel that is gone; a figure that loses all of them is left without panels.
std::vector<std::string> drop_empty_panels(figure::Figure& figure);

}  // namespace buoy::report
