#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace buoy {

// One value of a table: nothing (not defined), a number, a whole number or a text.
using Cell = std::variant<std::monostate, double, std::int64_t, std::string>;

struct Column {
  std::string name;     // snake_case: what programs read
  std::string meaning;  // one line for people, with the unit
};

// A plain result: what analyses return and figures, pages and files are made of.
struct Table {
  std::string name;   // snake_case; also the name of its file
  std::string title;  // one line for people
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;

  // Throws InternalError when the number of cells is not that of the columns.
  void add(std::vector<Cell> row);
  // Throws UsageError for a name there is none of.
  std::size_t column(const std::string& column_name) const;
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
