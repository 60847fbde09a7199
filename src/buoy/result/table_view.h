#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "buoy/result/table.h"

namespace buoy {

// Some rows of a table, read by column names. The table must outlive it.
class TableView {
 public:
  TableView() = default;  // of no table: no rows
  explicit TableView(const Table& table);

  using Condition = std::pair<std::string, std::string>;  // column, text of its cell
  TableView where(std::initializer_list<Condition> conditions) const;

  bool has(const std::string& column) const;
  bool empty() const { return rows_.empty(); }
  size_t size() const { return rows_.size(); }
  std::vector<double> numbers(const std::string& column) const;  // NaN where there is none
  std::vector<std::string> texts(const std::string& column) const;
  std::vector<std::string> distinct(const std::string& column) const;  // in the order they come
  // Of the first row; NaN or "" when there is none.
  double number(const std::string& column) const;
  std::string text(const std::string& column) const;

 private:
  const Table* table_ = nullptr;
  std::vector<size_t> rows_;
};

// The table of that name, or a view of nothing.
TableView find_table(std::span<const Table> tables, const std::string& name);

}  // namespace buoy
