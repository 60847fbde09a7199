#pragma once

#include <cstdint>

// What a study can find before it runs: the smallest effect whose whole interval lies beyond a margin with a
// chance of `power`.
namespace buoy::stats {

struct PowerCase {
  double margin = 0;    // effects inside it count for nothing
  double alpha = 0.05;  // of the two-sided interval
  double power = 0.8;
};

// Of a mean over samples whose standard deviation is known or assumed, by Student's t; samples from 2 on.
double detectable_mean(double deviation, std::int64_t samples, const PowerCase& of);
// The same from a standard error and the degrees of freedom of its interval.
double detectable_by_error(double error, double freedom, const PowerCase& of);

// Of shares of the same items: all items have it before, and so many fewer after (Newcombe's interval,
// binomial chances, exact). 1 where even the loss of all is not found.
double detectable_drop(std::int64_t items, const PowerCase& of);

// Of a ratio of two gains over the same number of items, beyond `ratio` (margin included), where the divisor
// is `gain`: Fieller's condition with the variances of shares. Infinite where no gain of 1 or less is found.
double detectable_ratio(double gain, double ratio, std::int64_t items, const PowerCase& of);

}  // namespace buoy::stats
