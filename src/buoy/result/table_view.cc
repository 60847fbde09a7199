#include "buoy/result/table_view.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace buoy {

TableView::TableView(const Table& table) : table_(&table), rows_(table.rows.size()) {
  std::iota(rows_.begin(), rows_.end(), size_t{0});
}

TableView TableView::where(std::initializer_list<Condition> conditions) const {
  TableView out;
  out.table_ = table_;
  if (table_ == nullptr) return out;
  std::vector<std::pair<size_t, std::string>> wanted;
  for (const auto& [column, value] : conditions) wanted.emplace_back(table_->column(*column), value);
  for (const size_t row : rows_) {
    const bool fits = std::all_of(wanted.begin(), wanted.end(), [&](const auto& condition) {
      return text_of(table_->rows[row][condition.first]) == condition.second;
    });
    if (fits) out.rows_.push_back(row);
  }
  return out;
}

bool TableView::has(const ColumnSchema& column) const {
  return table_ != nullptr && table_->has(column);
}

std::vector<double> TableView::numbers(const ColumnSchema& column) const {
  std::vector<double> out;
  if (table_ == nullptr) return out;
  const size_t at = table_->column(column);
  for (const size_t row : rows_) out.push_back(number_of(table_->rows[row][at]));
  return out;
}

std::vector<std::string> TableView::texts(const ColumnSchema& column) const {
  std::vector<std::string> out;
  if (table_ == nullptr) return out;
  const size_t at = table_->column(column);
  for (const size_t row : rows_) out.push_back(text_of(table_->rows[row][at]));
  return out;
}

std::vector<std::string> TableView::distinct(const ColumnSchema& column) const {
  std::vector<std::string> out;
  for (auto& text : texts(column)) {
    if (std::find(out.begin(), out.end(), text) == out.end()) out.push_back(std::move(text));
  }
  return out;
}

double TableView::number(const ColumnSchema& column) const {
  return rows_.empty() ? std::numeric_limits<double>::quiet_NaN()
                       : number_of(table_->rows[rows_[0]][table_->column(column)]);
}

std::string TableView::text(const ColumnSchema& column) const {
  return rows_.empty() ? "" : text_of(table_->rows[rows_[0]][table_->column(column)]);
}

TableView find_table(std::span<const Table> tables, const TableSchema& schema) {
  const auto found =
      std::find_if(tables.begin(), tables.end(), [&](const Table& table) { return table.is(schema); });
  return found != tables.end() ? TableView(*found) : TableView();
}

}  // namespace buoy
