#pragma once

#include <cstdint>

#include "buoy/tensor/context.h"

namespace buoy::ops {

// Vectors of heads, [rows, heads, head_dim].
struct HeadStates {
  const float* states;
  std::int64_t rows, heads, head_dim;
};

// Their lengths, [heads, rows].
void head_norms(const Context& context, const HeadStates& of, float* norms);

// Cosines with what the first `before_rows` rows were before, [heads, rows]; 1 for rows that were not there,
// 0 where a vector is zero. Then `before` takes what they are now, as many rows as it has room for.
struct HeadDrift {
  HeadStates now;
  float* before;  // [now.rows, heads, head_dim]
  std::int64_t before_rows;
  float* cosines;
};
void head_drift(const Context& context, const HeadDrift& drift);

// In double, and without touching `before`.
void head_norms_reference(const HeadStates& of, double* norms);
void head_drift_reference(const HeadDrift& drift, double* cosines);

}  // namespace buoy::ops
