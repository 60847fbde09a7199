#include "benchmark/timing.h"

#include <algorithm>
#include <chrono>
#include <vector>

namespace buoy::benchmark {
namespace {

using Clock = std::chrono::steady_clock;

double timed(const std::function<void()>& call) {
  const auto start = Clock::now();
  call();
  return std::chrono::duration<double>(Clock::now() - start).count();
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
                                int repetitions) {
  const auto both = [&] { return TwoTimes{timed(one), other ? timed(other) : 0.0}; };
  if (both().one > 2.0) return both();  // long enough to be steady by itself
  std::vector<double> times, others;
  const auto begin = Clock::now();
  while (times.size() < static_cast<size_t>(repetitions) ||
         Clock::now() - begin < std::chrono::milliseconds(500)) {
    const TwoTimes now = both();
    times.push_back(now.one);
    others.push_back(now.other);
  }
  return {median(std::move(times)), median(std::move(others))};
}

}  // namespace buoy::benchmark
