#pragma once

namespace buoy::run {

// Seconds of the model's thread that went into observing.
struct LiveTimes {
  double handing_on = 0;  // records to other threads, back-pressure included
  double waiting = 0;     // at the end, for sinks that were behind

  // The share of one of so many that worked side by side.
  LiveTimes divided_by(int workers) const { return {handing_on / workers, waiting / workers}; }
  LiveTimes& operator+=(const LiveTimes& other) {
    handing_on += other.handing_on;
    waiting += other.waiting;
    return *this;
  }
};

}  // namespace buoy::run
