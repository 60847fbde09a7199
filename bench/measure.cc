#include "bench/measure.h"

#include <cblas.h>

#include <cmath>
#include <vector>

#include "buoy/base/random.h"

extern "C" void openblas_set_num_threads(int);

namespace buoy::bench {

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
