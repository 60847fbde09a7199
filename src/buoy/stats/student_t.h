#pragma once

#include <cstdint>

namespace buoy::stats {

// z with P(|Z| < z) = level for a standard normal Z.
double two_sided_normal(double level);

// t with P(|T| < t) = level for Student's T of `freedom` degrees of freedom (at least 1).
double two_sided_t(double level, std::int64_t freedom);
// The same where degrees were estimated and are no whole number: from its neighbours. Above 4 the
// error is below 0.1%; for fewer it is a little large.
double two_sided_t_between(double level, double freedom);

// P(|T| < t).
double within_t(double t, std::int64_t freedom);

// P(Z > z).
double normal_tail(double z);

}  // namespace buoy::stats
