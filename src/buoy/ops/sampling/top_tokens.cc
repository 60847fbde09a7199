#include "buoy/ops/sampling/top_tokens.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "buoy/base/error.h"
#include "buoy/ops/sampling/sampling.h"

namespace buoy::ops {

void top_tokens(const Context& context, const TopTokensArgs& args) {
  BUOY_CHECK(args.top >= 1 && args.top <= args.vocabulary);
  context.threads.run(args.rows, [&](std::int64_t row, int) {
    const std::span<const float> logits(args.logits + row * args.vocabulary,
                                        static_cast<size_t>(args.vocabulary));
    const auto likelier = [&](std::int32_t a, std::int32_t b) {
      const float x = logits[static_cast<size_t>(a)], y = logits[static_cast<size_t>(b)];
      return x > y || (x == y && a < b);
    };
    // A short sorted list: few ids of a large vocabulary ever enter it.
    std::vector<std::int32_t> best;
    for (std::int32_t id = 0; id < args.vocabulary; ++id) {
      if (std::ssize(best) == args.top && !likelier(id, best.back())) continue;
      if (std::ssize(best) == args.top) best.pop_back();
      best.insert(std::upper_bound(best.begin(), best.end(), id, likelier), id);
    }
    const double sum = log_sum_exp(logits);
    for (std::int64_t k = 0; k < args.top; ++k) {
      const std::int32_t id = best[static_cast<size_t>(k)];
      args.tokens[row * args.top + k] = id;
      args.probabilities[row * args.top + k] =
          static_cast<float>(std::exp(double{logits[static_cast<size_t>(id)]} - sum));
    }
  });
}

}  // namespace buoy::ops
