#include "buoy/benchmark/timing.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace buoy::benchmark {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double timed(const std::function<void()>& call) {
  const auto start = Clock::now();
  call();
  return seconds_since(start);
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

double median_seconds(const std::function<void()>& call, int repetitions) {
  return median_seconds_in_turn(call, {}, repetitions).one;
}

TwoTimes median_seconds_in_turn(const std::function<void()>& one, const std::function<void()>& other,
                                int repetitions, double least_seconds) {
  const auto both = [&] { return TwoTimes{timed(one), other ? timed(other) : 0.0}; };
  if (both().one > 2.0) return both();  // long enough to be steady by itself
  std::vector<double> times, others;
  const auto begin = Clock::now();
  while (times.size() < static_cast<size_t>(repetitions) || seconds_since(begin) < least_seconds) {
    const TwoTimes now = both();
    times.push_back(now.one);
    others.push_back(now.other);
  }
  return {median(std::move(times)), median(std::move(others))};
}

double calls_per_second(double least_seconds, const std::function<void()>& call) {
  const auto begin = Clock::now();
  for (int calls = 1;; ++calls) {
    call();
    const double seconds = seconds_since(begin);
    if (seconds >= least_seconds) return calls / seconds;
  }
}

}  // namespace buoy::benchmark
