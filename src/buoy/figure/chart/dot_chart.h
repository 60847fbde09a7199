#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace buoy::figure {

// Dots of one sort in every group, side by side. NaN: no dot.
struct DotSeries {
  std::string name;                         // in the legend; empty: none
  std::vector<std::vector<double>> values;  // one list a group
  bool hollow = false;
  std::optional<size_t> style = {};  // number of its colour; otherwise its place among the series
};

// The mean of a group with its interval, drawn behind its dots. NaN: none.
struct DotMean {
  double value, lower, upper;
};

// Every sample a dot.
struct DotChart {
  std::string y_title;
  std::vector<std::string> groups;
  std::vector<DotSeries> series;
  std::vector<DotMean> means;  // one a group, or none
  std::string mean_name;
  std::optional<double> null;  // a line across all groups
  double margin = 0;           // a band about it
  std::string null_name;
  std::optional<double> y_low = {};  // otherwise from the data
  std::optional<double> y_high = {};
};

}  // namespace buoy::figure
