#pragma once

#include <functional>
#include <string>
#include <vector>

#include "buoy/benchmark/timing.h"
#include "buoy/tensor/context.h"

namespace buoy::bench {

// One line of the result table.
struct Result {
  std::string name;
  double seconds;        // median of the repetitions
  double rate;           // in `unit`
  std::string unit;      // "GFLOP/s", "MB/s", "s"
  double share_of_peak;  // of the sgemm rate measured in the same run; 0 when that means nothing
};

using benchmark::median_seconds;

// OpenBLAS sgemm, 1024 x 4096 x 4096, on this many threads: what the machine can do.
Result bench_sgemm(int threads);

// Takes each result as soon as it is there.
using Report = std::function<void(const Result&)>;

void bench_forward(const Context& context, double peak, const Report& report);
// Attention alone beside everything observed of it.
void bench_attention(const Context& context, const std::vector<int>& lengths, const Report& report);
// Cost of observing a forward, each statistic and all, as a ratio to the same work unobserved, and the memory
// it takes.
void bench_observe_block(const Context& context, const std::vector<int>& lengths, const Report& report);
void bench_observe_small(const Context& context, const std::vector<int>& lengths, const Report& report);
// Every analysis on samples of 32 layers, 32 heads, T = 512, 32 steps: time and memory per sample.
void bench_analysis(bool long_run, const Report& report);
// The way of a stored array from a record to the disk, stage by stage.
void bench_trace(const Report& report);
// What each analysis makes of one record: one layer of one forward, 32 heads, 1,024 tokens, 13 groups.
void bench_live(const Report& report);
void bench_tokenizers(const std::string& folder, const Report& report);

}  // namespace buoy::bench
