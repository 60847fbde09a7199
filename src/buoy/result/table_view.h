#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "buoy/result/table.h"

namespace buoy {

// Some rows of a table, read by declared columns. The table must outlive it.
class TableView {
 public:
  TableView() = default;  // of no table: no rows
  explicit TableView(const Table& table);

  // Rows in which the cell of a column holds that text.
  struct Condition {
    Condition(const ColumnSchema& of, std::string text) : column(&of), value(std::move(text)) {}
    const ColumnSchema* column;
    std::string value;
  };
  TableView where(std::initializer_list<Condition> conditions) const;

  bool has(const ColumnSchema& column) const;
  bool empty() const { return rows_.empty(); }
  size_t size() const { return rows_.size(); }
  std::vector<double> numbers(const ColumnSchema& column) const;  // NaN where there is none
  std::vector<std::string> texts(const ColumnSchema& column) const;
  std::vector<std::string> distinct(const ColumnSchema& column) const;  // in the order they come
  // Of the first row; NaN or "" when there is none.
  double number(const ColumnSchema& column) const;
  std::string text(const ColumnSchema& column) const;

 private:
  const Table* table_ = nullptr;
  std::vector<size_t> rows_;
};

// The declared table among some, or a view of nothing.
TableView find_table(std::span<const Table> tables, const TableSchema& schema);

}  // namespace buoy
