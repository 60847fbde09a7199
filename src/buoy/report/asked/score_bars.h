#pragma once

#include <string>
#include <vector>

#include "buoy/figure/chart/figure.h"
#include "buoy/result/table_view.h"

namespace buoy::report {

// What bars are drawn of: a series for each model, a group for each value of a column.
struct BarColumns {
  const ColumnSchema &model, &group;
  const Interval& height;
};
figure::BarChart bars(const TableView& rows, const BarColumns& columns, const std::string& title);

figure::Figure page_of(std::vector<figure::Panel> panels);

// Of eval_scores: how many items each set has.
std::string counted_items(const TableView& scores);

}  // namespace buoy::report
