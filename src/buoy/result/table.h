#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "buoy/result/table_schema.h"

namespace buoy {

// One value of a table: nothing (not defined), a number, a whole number or a text.
using Cell = std::variant<std::monostate, double, std::int64_t, std::string>;

struct Column {
  std::string name;     // snake_case: what programs read
  std::string meaning;  // one line for people, with the unit
};

// The cells of an interval; numbers that are not finite become "nothing".
struct IntervalCells {
  double value = std::numeric_limits<double>::quiet_NaN();
  double lower = std::numeric_limits<double>::quiet_NaN();
  double upper = std::numeric_limits<double>::quiet_NaN();
};

// A cell of a row together with its column, or the three cells of an interval.
class Entry {
 public:
  Entry(const ColumnSchema& column, Cell cell) : column_(&column), cells_{std::move(cell)} {}
  Entry(const Interval& columns, const IntervalCells& cells);

 private:
  friend struct Table;
  const ColumnSchema* column_;
  const Interval* interval_ = nullptr;
  std::array<Cell, 3> cells_;
};
using Row = std::vector<Entry>;

// A plain result: what analyses return and figures, pages and files are made of.
struct Table {
  std::string name;   // snake_case; also the name of its file
  std::string title;  // one line for people
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;

  explicit Table(const TableSchema& schema);  // without rows
  // For tests of what any table can be: names that are declared nowhere.
  static Table undeclared(std::string name, std::vector<Column> columns);

  bool is(const TableSchema& schema) const { return name == schema.name(); }

  // Throws InternalError unless the row has all columns of the table, in their order.
  void add(Row row);
  // Throws InternalError for a column of another table, UsageError for one that this table does not have.
  std::size_t column(const ColumnSchema& column) const;
  bool has(const ColumnSchema& column) const;
  // Another meaning than the declared one: where it holds options.
  void explain(const ColumnSchema& column, std::string meaning);

 private:
  Table() = default;
};

// A number that is not finite becomes "nothing".
Cell number_cell(double value);
// The number in a cell, NaN for anything else.
double number_of(const Cell& cell);
std::string text_of(const Cell& cell);  // numbers with up to 6 digits, "" for nothing

std::string to_csv(const Table& table);   // RFC 4180, header first, numbers that read back the same
std::string to_json(const Table& table);  // {"name", "title", "columns": [...], "rows": [[...]]}
std::string to_text(const Table& table);  // aligned, for a terminal

// The same table from several runs, told apart by a first column named "trace". Tables must have equal
// columns.
struct LabelledTable {
  std::string label;
  Table table;
};
Table stack(const std::vector<LabelledTable>& tables);

}  // namespace buoy
