#include <vector>

#include "buoy/ops/linear/linear.h"

namespace buoy::ops {

void linear_reference(const LinearArgs& args, double* output) {
  const std::int64_t outputs = args.weight->rows(), inputs = args.weight->columns();
  std::vector<float> row(static_cast<size_t>(inputs));
  for (std::int64_t n = 0; n < outputs; ++n) {
    to_float(*args.weight, n * inputs, inputs, row.data());
    for (std::int64_t m = 0; m < args.rows; ++m) {
      double sum = args.bias != nullptr ? args.bias[n] : 0.0;
      for (std::int64_t k = 0; k < inputs; ++k)
        sum += double{args.input[m * inputs + k]} * row[static_cast<size_t>(k)];
      output[m * outputs + n] = sum;
    }
  }
}

}  // namespace buoy::ops
