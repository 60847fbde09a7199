#pragma once

#include <string>
#include <vector>

#include "buoy/report/section.h"
#include "buoy/result/table_view.h"

namespace buoy::report {

// Accuracy by length and depth of one run (rows of eval_haystack): a figure for each set, a map for each
// model. Of several conditions the first is drawn: a sweep has figures of its own. None for no rows.
std::vector<NamedFigure> haystack_figures(const TableView& haystack);

// Where each model does best and worst, a sentence each.
void read_haystacks(const TableView& haystack, std::vector<std::string>& readings);

}  // namespace buoy::report
