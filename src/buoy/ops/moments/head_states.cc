#include "buoy/ops/moments/head_states.h"

#include <algorithm>
#include <cmath>

#include "buoy/base/error.h"

namespace buoy::ops {
namespace {

struct HeadProducts {
  double dot = 0, here = 0, there = 0;
};

HeadProducts products_of(const float* now, const float* before, std::int64_t size) {
  HeadProducts out;
  for (std::int64_t i = 0; i < size; ++i) {
    out.dot += double{now[i]} * before[i];
    out.here += double{now[i]} * now[i];
    out.there += double{before[i]} * before[i];
  }
  return out;
}

}  // namespace

void head_norms(const Context& context, const HeadStates& of, float* norms) {
  BUOY_CHECK(of.heads > 0 && of.head_dim > 0);
  context.threads.run(of.rows, [&](std::int64_t row, int) {
    for (std::int64_t head = 0; head < of.heads; ++head) {
      const float* state = of.states + (row * of.heads + head) * of.head_dim;
      norms[head * of.rows + row] =
          static_cast<float>(std::sqrt(products_of(state, state, of.head_dim).here));
    }
  });
}

void head_drift(const Context& context, const HeadDrift& drift) {
  const HeadStates& now = drift.now;
  BUOY_CHECK(now.heads > 0 && now.head_dim > 0);
  context.threads.run(now.rows, [&](std::int64_t row, int) {
    for (std::int64_t head = 0; head < now.heads; ++head) {
      const std::int64_t at = (row * now.heads + head) * now.head_dim;
      float& cosine = drift.cosines[head * now.rows + row];
      if (row >= drift.before_rows) {
        cosine = 1;
      } else {
        const auto sums = products_of(now.states + at, drift.before + at, now.head_dim);
        const double lengths = std::sqrt(sums.here) * std::sqrt(sums.there);
        cosine = static_cast<float>(lengths > 0 ? std::clamp(sums.dot / lengths, -1.0, 1.0) : 0.0);
      }
      std::copy_n(now.states + at, now.head_dim, drift.before + at);
    }
  });
}

}  // namespace buoy::ops
