#pragma once

#include <span>
#include <vector>

#include "buoy/analysis/tasks/task_groups.h"
#include "buoy/result/table.h"

namespace buoy::analysis {

Table anchors_table(const TaskTrace& trace);

// Of all models: the dependence on the task by layer, the anchors of each task by layer, and which traces are
// tasks.
std::vector<Table> task_tables(std::span<const TaskGroup> groups, const stats::BootstrapOptions& options);

}  // namespace buoy::analysis
