#pragma once

#include <string>
#include <vector>

#include "buoy/result/table_schema.h"

namespace buoy::schema {

// Every table there is: those of the analyses, of evaluations and of claims, by producer and in the order it
// makes them.
const std::vector<const TableSchema*>& all_tables();

// All tables with their columns, as docs/tables.md holds them.
std::string describe_tables();

}  // namespace buoy::schema
