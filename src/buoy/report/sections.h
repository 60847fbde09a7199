#pragma once

#include "buoy/report/section.h"
#include "buoy/result/table_view.h"

namespace buoy::report {

Section floating_section(std::span<const Table> tables);
Section drift_section(std::span<const Table> tables);
Section absorption_section(std::span<const Table> tables);
Section qk_section(std::span<const Table> tables);
Section retrieval_section(std::span<const Table> tables);
Section flow_section(std::span<const Table> tables);
Section structure_section(std::span<const Table> tables);
Section tasks_section(std::span<const Table> tables);
Section evaluation_section(std::span<const Table> tables);

// A curve from a view whose rows are its points.
struct CurveColumns {
  std::string x = "layer", y, lower = "lower", upper = "upper";  // lower and upper empty: no band
};
figure::Series curve(const std::string& name, const TableView& rows, const CurveColumns& columns);
figure::ReferenceCurve reference(const std::string& name, const TableView& rows, const std::string& y,
                                 size_t of_series);
bool has_number(const std::vector<double>& values);

// How captions call the head of a map, from its column "head": "heads averaged" or "head 2".
std::string head_text(const TableView& rows);

// "12.3 [10.1, 14.5]"; "12.3" without an interval; "not defined" without a number.
std::string with_interval(double value, double lower, double upper);

}  // namespace buoy::report
