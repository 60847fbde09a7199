#pragma once

#include <span>
#include <string>

#include "buoy/result/table_schema.h"

namespace buoy::schema {

// Every table there is, by its producer and in the order it makes them.
std::span<const TableSchema* const> all_tables();

// All tables with their columns, as docs/tables.md holds them.
std::string describe_tables();

}  // namespace buoy::schema
