#pragma once

#include "buoy/report/section.h"
#include "buoy/result/table_view.h"

namespace buoy::report {

// The section of a producer, without anything in it; `question` is what it asks.
Section empty_section(const Producer& producer, const std::string& question);

// A curve from a view whose rows are its points.
struct CurveColumns {
  const ColumnSchema& x;
  const Interval& y;
};
figure::Series curve(const std::string& name, const TableView& rows, const CurveColumns& columns);
struct PointColumns {
  const ColumnSchema &x, &y;
};
figure::ReferenceCurve reference(const std::string& name, const TableView& rows, const PointColumns& columns,
                                 size_t of_series);
inline constexpr const char* kUniformName = "uniform attention";  // in legends

bool has_number(const std::vector<double>& values);

// How captions call the head of a map: "heads averaged" or "head 2".
std::string head_text(const TableView& rows, const ColumnSchema& head);

// "12.3 [10.1, 14.5]"; "12.3" without an interval; "not defined" without a number.
std::string with_interval(double value, double lower, double upper);
std::string with_interval(const TableView& rows, const Interval& columns);  // of the first row

}  // namespace buoy::report
