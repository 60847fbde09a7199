#pragma once

#include <string>
#include <vector>

namespace buoy::figure {

struct Range {
  double low = 0;
  double high = 1;
};

struct Tick {
  double value = 0;
  std::string label;
};

enum class TickStep { kAny, kWhole };

// At most `most` (at least 1) multiples of 1, 2 or 5 times a power of ten inside the range.
std::vector<Tick> linear_ticks(const Range& range, int most, TickStep step = TickStep::kAny);

// Powers of ten; 1, 2 and 5 times them where the range is short of decades. The range must be positive.
std::vector<Tick> log_ticks(const Range& range, int most);

// Three significant digits, a true minus sign, powers of ten as superscripts: "0.125", "2.5×10⁻⁶".
std::string short_number(double value);

}  // namespace buoy::figure
