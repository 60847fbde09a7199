#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "buoy/stats/estimate.h"

namespace buoy::stats {

// The values with a share `tail` below and above them: of R values, the k-th has the share k / (R + 1) below.
// Between two the line; beside an infinite one, the outer one.
Interval tail_values(std::vector<double> values, double tail);

// A mean of samples, and its standard error from their population deviation.
struct SampleMean {
  double mean = 0, error = 0;
  std::int64_t samples = 0;
};

// From the sums of `count` values and of their squares, best taken about a value among them. 0 where the
// values differ by no more than rounding.
double error_of_mean(double count, double sum, double square);

// The same of one resample: its mean less that of the samples. NaN: nothing was drawn.
struct ResampledMean {
  double offset = 0, error = 0;  // error 0: only equal values were drawn
};

// Fewer samples have resamples of one and the same sample too often to be studentised.
inline constexpr std::int64_t kFewestStudentised = 8;

// Bootstrap-t: offsets are divided by the errors of their own resamples, so that skew, which ties the two
// together, moves both ends. NaN for fewer than two samples; no width for samples that are all equal;
// Student's t for fewer than kFewestStudentised. A side on which resamples without spread (most samples are
// equal) leave no finite end: the wider of Student's t and the expanded percentile.
Interval mean_interval(const SampleMean& sample, std::span<const ResampledMean> resamples, double confidence);

// mean -+ t of samples - 1 degrees of freedom; NaN for fewer than two samples.
Interval student_interval(const SampleMean& sample, double confidence);

// What each end of a percentile interval leaves out, so that n samples are as wide as Student's t would be:
// the normal distribution has this share beyond t.
double expanded_tail(double confidence, std::int64_t samples);
// The same for resamples of as many draws as there are samples, whose spread is too small by n / (n - 1).
// Poisson draws make up for it: so many of them are drawn on average only.
double expanded_tail_of_draws(double confidence, std::int64_t samples);

}  // namespace buoy::stats
