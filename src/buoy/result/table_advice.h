#pragma once

#include <string>

#include "buoy/result/table_schema.h"

namespace buoy {

// What to run so that a table has rows, as its schema says: "buoy analyze qk on a trace with `observe`
// received,qk,norms", "buoy eval with `sweep` gold-position=1-10 (or 1-20), and buoy report with
// `evaluations`". Fields stand between marks, as in errors (base/field_name.h).
std::string how_to_get(const TableSchema& table);

// The whole value of `observe` that a table needs; "" for none.
std::string observe_for(const TableSchema& table);

}  // namespace buoy
