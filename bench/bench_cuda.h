#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "buoy/base/file/json_file.h"
#include "buoy/benchmark/machine.h"

namespace buoy::bench {

struct CudaBenchOptions {
  std::vector<int> lengths;         // tokens of one sequence
  int timed_candidates = 0;         // see ops::DeviceLinear
  bool pieces = false;              // observe each statistic alone, too
  std::vector<std::string> shapes;  // of block decoding and of experts; none: all
  std::vector<int> expert_rows = {32, 1024, 4096};

  bool wants(const std::string& shape) const {
    return shapes.empty() || std::find(shapes.begin(), shapes.end(), shape) != shapes.end();
  }
};

// Denoising steps of the LLaDA-8B shape with random weights, all positions chosen from on the card:
// unobserved, observed and packed. Prints a table and returns it as `steps`, with the held product rate.
Json bench_cuda_steps(const Context& context, const benchmark::MachineLimits& limits,
                      const CudaBenchOptions& options);
// The operations of one layer of that shape one by one, to see where the time goes.
Json bench_cuda_parts(const benchmark::MachineLimits& limits, const CudaBenchOptions& options);

// What reading the residual stream, the logit lens and predictions cost in such a step, beside the limits
// that were set for them.
Json bench_cuda_residual(const Context& context, const CudaBenchOptions& options);

// Decoding with a cache of finished blocks, or of tokens, and without, at published shapes: a token a step,
// unobserved and observed, at as many tokens of context as the options have lengths.
Json bench_cuda_blocks(const Context& context, const CudaBenchOptions& options);

// Layers of experts of published shapes with few rows and with many, as shares of what the card copies and
// multiplies.
Json bench_cuda_experts(const Context& context, const CudaBenchOptions& options);

}  // namespace buoy::bench
