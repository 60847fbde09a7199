#pragma once

#include <limits>
#include <string>
#include <vector>

#include "buoy/figure/chart/color_scale.h"

namespace buoy::figure {

struct Token {
  std::string text;  // any bytes; a newline is drawn and ends the line
  double value = std::numeric_limits<double>::quiet_NaN();
  bool special = false;  // masks, <|end|> and the like: bold in a frame
};

// Running text, each token on the colour of its value.
struct TokenStrip {
  std::vector<Token> tokens;
  ColorScale colors;
};

}  // namespace buoy::figure
