#pragma once

namespace buoy::analysis {

// A number, and what it is with nothing to be found. NaN: not defined.
struct WithNull {
  double value, null;
};

}  // namespace buoy::analysis
