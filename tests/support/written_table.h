#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "buoy/analysis/core/all_tables.h"
#include "buoy/result/schema/common.h"
#include "buoy/result/table.h"

// Tables that tests write down and read by the names that files have. Those names are checked against the
// schema: a test of a column that was renamed fails.
namespace buoy::testing {

inline bool declares(const std::string& table, const std::string& column) {
  if (column == schema::trace.name()) return true;
  for (const auto* schema : schema::all_tables()) {
    if (schema->name() != table) continue;
    const auto columns = schema->columns();
    return std::any_of(columns.begin(), columns.end(),
                       [&](const auto* one) { return one->name() == column; });
  }
  return false;
}

// A declared table with some of its columns.
inline Table written_table(const std::string& name, const std::vector<std::string>& columns) {
  std::vector<Column> out;
  for (const auto& column : columns) {
    EXPECT_TRUE(declares(name, column)) << "table " << name << ", column " << column;
    out.push_back({column, ""});
  }
  return Table::undeclared(name, std::move(out));
}

inline void add_cells(Table& table, std::vector<Cell> row) {
  ASSERT_EQ(row.size(), table.columns.size()) << table.name;
  table.rows.push_back(std::move(row));
}

inline std::size_t column_named(const Table& table, const std::string& name) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == name) return i;
  }
  throw std::out_of_range("table " + table.name + " has no column " + name);
}

}  // namespace buoy::testing
