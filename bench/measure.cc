#include "bench/measure.h"

#include <cblas.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/random.h"

extern "C" void openblas_set_num_threads(int);

namespace buoy::bench {

double median_seconds(const std::function<void()>& call, int repetitions) {
  using Clock = std::chrono::steady_clock;
  const auto timed = [&] {
    const auto start = Clock::now();
    call();
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  if (timed() > 2.0) return timed();  // long enough to be steady by itself
  std::vector<double> times;
  const auto begin = Clock::now();
  while (times.size() < static_cast<size_t>(repetitions) ||
         Clock::now() - begin < std::chrono::milliseconds(500)) {
    times.push_back(timed());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

Result bench_sgemm(int threads) {
  constexpr int kRows = 1024, kInner = 4096, kColumns = 4096;
  openblas_set_num_threads(threads);
  std::vector<float> a(size_t{kRows} * kInner), b(size_t{kInner} * kColumns), c(size_t{kRows} * kColumns);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(std::sin(static_cast<double>(i)));
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(std::cos(static_cast<double>(i)));
  const double seconds = median_seconds(
      [&] {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, kRows, kColumns, kInner, 1.0f, a.data(), kInner,
                    b.data(), kInner, 0.0f, c.data(), kColumns);
      },
      5);
  return {"OpenBLAS sgemm 1024 x 4096 x 4096", seconds, 2.0 * kRows * kInner * kColumns / seconds / 1e9,
          "GFLOP/s", 1};
}

}  // namespace buoy::bench
