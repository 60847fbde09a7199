#include <cmath>

#include "buoy/ops/moments/head_states.h"

namespace buoy::ops {

void head_norms_reference(const HeadStates& of, double* norms) {
  for (std::int64_t head = 0; head < of.heads; ++head) {
    for (std::int64_t row = 0; row < of.rows; ++row) {
      double squares = 0;
      for (std::int64_t i = 0; i < of.head_dim; ++i) {
        const double value = of.states[(row * of.heads + head) * of.head_dim + i];
        squares += value * value;
      }
      norms[head * of.rows + row] = std::sqrt(squares);
    }
  }
}

void head_drift_reference(const HeadDrift& drift, double* cosines) {
  const HeadStates& now = drift.now;
  for (std::int64_t head = 0; head < now.heads; ++head) {
    for (std::int64_t row = 0; row < now.rows; ++row) {
      double dot = 0, here = 0, there = 0;
      for (std::int64_t i = 0; i < now.head_dim && row < drift.before_rows; ++i) {
        const std::int64_t at = (row * now.heads + head) * now.head_dim + i;
        const double a = now.states[at], b = drift.before[at];
        dot += a * b;
        here += a * a;
        there += b * b;
      }
      const bool defined = here > 0 && there > 0;
      cosines[head * now.rows + row] = row >= drift.before_rows ? 1.0
                                       : defined                ? dot / std::sqrt(here * there)
                                                                : 0.0;
    }
  }
}

}  // namespace buoy::ops
