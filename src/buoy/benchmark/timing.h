#pragma once

#include <functional>

namespace buoy::benchmark {

// Median time of a call, after one call to warm up; at least `repetitions` and at least half a second. Calls
// of over two seconds are timed once.
double median_seconds(const std::function<void()>& call, int repetitions = 3);

// The same of two calls that take turns, so that a machine that warms up slows down both.
struct TwoTimes {
  double one, other;
};
TwoTimes median_seconds_in_turn(const std::function<void()>& one, const std::function<void()>& other,
                                int repetitions = 3, double least_seconds = 0.5);

// Over so many seconds at least.
double calls_per_second(double least_seconds, const std::function<void()>& call);

}  // namespace buoy::benchmark
