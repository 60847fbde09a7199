#include "buoy/result/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "buoy/base/error.h"

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

void Table::add(std::vector<Cell> row) {
  BUOY_CHECK(row.size() == columns.size());
  rows.push_back(std::move(row));
}

std::size_t Table::column(const std::string& column_name) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == column_name) return i;
  }
  throw_usage_error({"table " + name, "a column " + column_name, "none of that name"});
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

std::string to_text(const Table& table) {
  std::vector<size_t> widths;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    size_t width = display_width(table.columns[i].name);
    for (const auto& row : table.rows) width = std::max(width, display_width(text_of(row[i])));
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
    for (size_t i = 0; i < row.size(); ++i) put(text_of(row[i]), i, is_number(row[i]));
    end_line();
  }
  return out;
}

Table stack(const std::vector<LabelledTable>& tables) {
  BUOY_CHECK(!tables.empty());
  Table out{tables[0].table.name, tables[0].table.title, {{"trace", "which trace"}}, {}};
  out.columns.insert(out.columns.end(), tables[0].table.columns.begin(), tables[0].table.columns.end());
  for (const auto& [label, table] : tables) {
    for (const auto& row : table.rows) {
      std::vector<Cell> cells = {label};
      cells.insert(cells.end(), row.begin(), row.end());
      out.add(std::move(cells));
    }
  }
  return out;
}

}  // namespace buoy
