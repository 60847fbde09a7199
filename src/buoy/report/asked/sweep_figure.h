#pragma once

#include <string>
#include <vector>

#include "buoy/report/section.h"
#include "buoy/result/table_view.h"

namespace buoy::report {

// Of one run: rows of eval_scores and of eval_effects.
struct SweptTables {
  const TableView &scores, &effects;
};

// Whether an axis is a control of another one that was swept: "hidden-keys-random" of "hidden-keys".
bool is_control(const std::string& axis, const std::vector<std::string>& axes);

// Exact match against the values of an axis. Where it has controls among `axes`, they are in the same figure:
// a panel for each set and model, the controls dashed, all from the same beginning.
NamedFigure sweep_figure(const SweptTables& run, const std::string& axis,
                         const std::vector<std::string>& axes);

void read_sweep(const TableView& scores, const std::string& axis, std::vector<std::string>& readings);

}  // namespace buoy::report
