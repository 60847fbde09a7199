#pragma once

#include <string>
#include <vector>

#include "base/json_file.h"
#include "bench/measure.h"

namespace buoy::bench {

// What the card can do, measured in the same run.
struct CardLimits {
  double gemm_flops;  // bf16 product of 8192 x 8192 x 8192, per second
  double copy_bytes;  // read and written by a copy within the card, per second
};
CardLimits measure_card();

struct CudaBenchOptions {
  std::vector<int> lengths;  // tokens of one sequence
  int timed_candidates = 0;  // see ops::DeviceLinear
  bool pieces = false;       // observe each statistic alone, too
};

// Denoising steps of the LLaDA-8B shape with random weights, all positions chosen from on the card:
// unobserved, observed and packed. Prints a table and returns it.
Json bench_cuda_steps(const Context& context, const CardLimits& limits, const CudaBenchOptions& options);
// The operations of one layer of that shape one by one, to see where the time goes.
Json bench_cuda_parts(const CardLimits& limits, const CudaBenchOptions& options);

}  // namespace buoy::bench
