#include "buoy/result/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "buoy/base/error.h"
#include "buoy/result/schema/common.h"

namespace buoy {
namespace {

std::string quote_csv(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

// Spreadsheets run a cell that begins so as a formula; behind an apostrophe it is text.
std::string defuse_formula(const std::string& text) {
  const bool formula = !text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos;
  return formula ? "'" + text : text;
}

std::string exact_text(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{}", *number);
  if (const auto* text = std::get_if<std::string>(&cell)) return defuse_formula(*text);
  return text_of(cell);
}

size_t display_width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

bool is_number(const Cell& cell) {
  return std::holds_alternative<double>(cell) || std::holds_alternative<std::int64_t>(cell);
}

}  // namespace

Entry::Entry(const Interval& columns, const IntervalCells& cells)
    : column_(&columns),
      interval_(&columns),
      cells_{number_cell(cells.value), number_cell(cells.lower), number_cell(cells.upper)} {}

Table::Table(const TableSchema& schema) : name(schema.name()), title(schema.title()) {
  for (const auto* column : schema.columns())
    columns.push_back({std::string(column->name()), std::string(column->meaning())});
}

Table Table::undeclared(std::string name, std::vector<Column> columns) {
  Table out;
  out.name = std::move(name);
  out.columns = std::move(columns);
  return out;
}

void Table::add(Row row) {
  std::vector<Cell> cells;
  const auto put = [&](const ColumnSchema& column, Cell& cell) {
    BUOY_CHECK(cells.size() < columns.size() && columns[cells.size()].name == column.name());
    cells.push_back(std::move(cell));
  };
  cells.reserve(columns.size());
  for (auto& entry : row) {
    put(*entry.column_, entry.cells_[0]);
    if (entry.interval_ == nullptr) continue;
    put(entry.interval_->lower, entry.cells_[1]);
    put(entry.interval_->upper, entry.cells_[2]);
  }
  BUOY_CHECK(cells.size() == columns.size());
  rows.push_back(std::move(cells));
}

std::size_t Table::column(const ColumnSchema& column) const {
  BUOY_CHECK(column.table() == nullptr || is(*column.table()));
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == column.name()) return i;
  }
  throw_usage_error({"table " + name, fmt::format("a column {}", column.name()), "none of that name"});
}

bool Table::has(const ColumnSchema& column) const {
  return std::any_of(columns.begin(), columns.end(),
                     [&](const Column& one) { return one.name == column.name(); });
}

void Table::explain(const ColumnSchema& column, std::string meaning) {
  columns[this->column(column)].meaning = std::move(meaning);
}

Cell number_cell(double value) {
  return std::isfinite(value) ? Cell(value) : Cell();
}

double number_of(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  return std::numeric_limits<double>::quiet_NaN();
}

std::string text_of(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{:.6g}", *number);
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *whole);
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return "";
}

std::string to_csv(const Table& table) {
  std::string out;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    out += (i > 0 ? "," : "") + quote_csv(defuse_formula(table.columns[i].name));
  }
  out += '\n';
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) out += (i > 0 ? "," : "") + quote_csv(exact_text(row[i]));
    out += '\n';
  }
  return out;
}

std::string to_json(const Table& table) {
  nlohmann::ordered_json json = {{"name", table.name}, {"title", table.title}};
  json["columns"] = nlohmann::ordered_json::array();
  for (const auto& column : table.columns)
    json["columns"].push_back({{"name", column.name}, {"meaning", column.meaning}});
  json["rows"] = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) {
    nlohmann::ordered_json cells = nlohmann::ordered_json::array();
    for (const auto& cell : row) {
      std::visit(
          [&](const auto& value) {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
              cells.push_back(nullptr);
            } else {
              cells.push_back(value);
            }
          },
          cell);
    }
    json["rows"].push_back(std::move(cells));
  }
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

// On one line.
static std::string shown(const Cell& cell) {
  std::string out;
  for (const char c : text_of(cell)) {
    if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else
      out += c;
  }
  return out;
}

std::string to_text(const Table& table) {
  std::vector<size_t> widths;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    size_t width = display_width(table.columns[i].name);
    for (const auto& row : table.rows) width = std::max(width, display_width(shown(row[i])));
    widths.push_back(width);
  }
  std::string out;
  const auto put = [&](const std::string& text, size_t i, bool right) {
    const std::string space(widths[i] - display_width(text), ' ');
    out += (i > 0 ? "  " : "") + (right ? space + text : text + space);
  };
  const auto end_line = [&] { out.erase(out.find_last_not_of(' ') + 1), out += '\n'; };
  for (size_t i = 0; i < widths.size(); ++i) {
    const bool numbers =
        std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) { return is_number(row[i]); });
    put(table.columns[i].name, i, numbers);
  }
  end_line();
  for (const auto& row : table.rows) {
    for (size_t i = 0; i < row.size(); ++i) put(shown(row[i]), i, is_number(row[i]));
    end_line();
  }
  return out;
}

Table stack(const std::vector<LabelledTable>& tables) {
  BUOY_CHECK(!tables.empty());
  Table out = tables[0].table;
  out.rows.clear();
  out.columns.insert(out.columns.begin(),
                     {std::string(schema::trace.name()), std::string(schema::trace.meaning())});
  for (const auto& [label, table] : tables) {
    BUOY_CHECK(table.columns.size() + 1 == out.columns.size());
    for (const auto& row : table.rows) {
      std::vector<Cell>& cells = out.rows.emplace_back();
      cells.emplace_back(label);
      cells.insert(cells.end(), row.begin(), row.end());
    }
  }
  return out;
}

}  // namespace buoy
