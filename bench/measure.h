#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tensor/context.h"

namespace buoy::bench {

// One line of the result table.
struct Result {
  std::string name;
  double seconds;        // median of the repetitions
  double rate;           // in `unit`
  std::string unit;      // "GFLOP/s", "MB/s", "s"
  double share_of_peak;  // of the sgemm rate measured in the same run; 0 when that means nothing
};

// Median time of a call, after one call to warm up; at least `repetitions` and at least half a second. Calls
// of over two seconds are timed once.
double median_seconds(const std::function<void()>& call, int repetitions = 3);

// OpenBLAS sgemm, 1024 x 4096 x 4096, on this many threads: what the machine can do.
Result bench_sgemm(int threads);

std::vector<Result> bench_forward(const Context& context, double peak);
// Cost of observing as a ratio to the same work unobserved; the long run goes to T = 8192.
std::vector<Result> bench_observe(const Context& context, bool long_run);
std::vector<Result> bench_tokenizers(const std::string& folder);

}  // namespace buoy::bench
