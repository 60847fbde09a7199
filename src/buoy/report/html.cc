#include "buoy/report/html.h"

#include <fmt/format.h>

#include <algorithm>

#include "buoy/base/field_name.h"
#include "buoy/base/utf8.h"

namespace buoy::report {

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : replace_invalid_utf8(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string prose_html(std::string_view text) {
  const auto in_name = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  const std::string escaped = escape_html(text);
  std::string out;
  for (size_t at = 0; at < escaped.size(); ++at) {
    size_t end = at + 1;
    if (escaped[at] == kFieldMark)
      end = static_cast<size_t>(
          std::find_if_not(escaped.begin() + static_cast<std::ptrdiff_t>(end), escaped.end(), in_name) -
          escaped.begin());
    // A mark of a token's own text names no field.
    if (end > at + 1 && end < escaped.size() && escaped[end] == kFieldMark) {
      out += "<code>" + escaped.substr(at + 1, end - at - 1) + "</code>";
      at = end;
    } else {
      out += escaped[at];
    }
  }
  return out;
}

std::string table_html(const Table& table, size_t most_rows, const std::string& file) {
  std::string out =
      fmt::format("<details><summary>{} <span class=\"count\">{} row{}</span></summary>\n",
                  escape_html(table.title), table.rows.size(), table.rows.size() == 1 ? "" : "s");
  out += fmt::format(
      "<p class=\"files\">All rows: <a href=\"{0}.csv\">CSV</a>, <a href=\"{0}.json\">JSON</a></p>\n",
      escape_html(file));
  out += "<div class=\"scroll\"><table><thead><tr>";
  for (const auto& column : table.columns)
    out += fmt::format("<th title=\"{}\">{}</th>", escape_html(column.meaning), escape_html(column.name));
  out += "</tr></thead>\n<tbody>\n";
  const size_t shown = std::min(most_rows, table.rows.size());
  for (size_t r = 0; r < shown; ++r) {
    out += "<tr>";
    for (const auto& cell : table.rows[r]) {
      const bool words = std::holds_alternative<std::string>(cell);
      out += fmt::format("<td{}>{}</td>", words ? " class=\"w\"" : "", escape_html(text_of(cell)));
    }
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
  if (shown < table.rows.size())
    out += fmt::format("<p class=\"files\">{} more rows in the files.</p>\n", table.rows.size() - shown);
  return out + "</details>\n";
}

}  // namespace buoy::report
