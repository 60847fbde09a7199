#pragma once

#include <limits>
#include <string>
#include <vector>

#include "buoy/result/table_view.h"

namespace buoy::report {

// A number of one trace or model, with all that decides whether a title may say it.
struct Measured {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::string who;
  double value = kNone, lower = kNone, upper = kNone;
  double samples = kNone;
  double null = kNone;  // what it would be if nothing were there; none: any interval says something
};

// Of the first row of a view; no row: nothing that can be said.
struct MeasuredColumns {
  const Interval& value;
  const ColumnSchema& samples;
};
Measured measured(const std::string& who, const TableView& rows, const MeasuredColumns& columns,
                  double null = Measured::kNone);

// A title in the making.
struct Finding {
  std::string what;            // "Floating tokens per layer"
  std::string neutral;         // the title where no number can be said
  std::string null_name = "";  // "with uniform attention"
  bool shows_null = false;     // says the null beside each number: "1.3 [1.2, 1.4] against 0.02 with ..."
};

// "Floating tokens per layer: 1.3 [1.2, 1.4] (a), 0.5 [0.4, 0.6] (b); c cannot be told from uniform
// attention". A number is said when enough samples (claims::kFewestSamples) give it an interval that does not
// hold the null; where there is none, the title is the neutral one. Spaces inside a number are hard.
std::string title_of(const Finding& finding, const std::vector<Measured>& numbers);

// How many of the layers (or heads) of a trace or model show something: an interval above the null, a test
// that was passed.
struct PartCount {
  std::string who;
  size_t above = 0, parts = 0;
  double samples = Measured::kNone;  // the fewest of a part
};
// "What in 3 of 8 layers (a), 0 of 6 layers (b)"; neutral where nobody with enough samples has any.
std::string title_of_parts(const Finding& finding, const std::vector<PartCount>& counts,
                           const std::string& unit = "layers");

// What the rows rest on: "n = 24 samples each", "n = 24 samples (a), 20 to 22 (b)"; "" where they do not say.
struct CountedColumns {
  const ColumnSchema &who, &count;
  std::string unit = "sample";
  double least = 1;  // rows of fewer are not counted: they are not drawn
};
std::string counted(const TableView& rows, const CountedColumns& columns);
std::string one_sample();  // of figures that show a single one

}  // namespace buoy::report
