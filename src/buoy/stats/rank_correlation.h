#pragma once

#include <span>
#include <vector>

namespace buoy::stats {

// Correlations of two series of equal length; pairs with NaN are left out. NaN (undefined, not 0) for fewer
// than three pairs and for a series that does not vary.
double pearson(std::span<const double> x, std::span<const double> y);
// Pearson of the ranks; equal values share the mean of their ranks.
double spearman(std::span<const double> x, std::span<const double> y);
// Of x and y given z, from the three rank correlations; NaN also when z fixes the order of x or y.
double partial_spearman(std::span<const double> x, std::span<const double> y, std::span<const double> z);

std::vector<double> ranks(std::span<const double> values);  // from 1

// Least-squares slope of y on x; NaN when x does not vary.
double slope(std::span<const double> x, std::span<const double> y);

}  // namespace buoy::stats
