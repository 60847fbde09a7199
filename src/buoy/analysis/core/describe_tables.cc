#include <fmt/format.h>

#include "buoy/analysis/core/all_tables.h"
#include "buoy/result/schema/common.h"
#include "buoy/result/table_advice.h"

namespace buoy::schema {
namespace {

constexpr std::string_view kIntroduction = R"(# Tables and columns

Every table that Buoy writes, with its columns. This page is written from the declarations in
`src/buoy/result/schema/` (`build/dev/bin/describe_tables`), and a test compares the two. What the numbers are and
how they are computed: [analyses](analyses.md), [evaluation](evaluation.md).

Columns in bold are axes: together they tell the rows of a table apart. Where a table is of several traces or runs, as in
a report, it has a first column **`trace`** (which trace). A value that is not defined is empty.
)";

// Bars would end the cell of a Markdown table.
std::string cell_text(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string heading(const Producer& producer) {
  switch (producer.source) {
    case Source::kAnalysis:
      return fmt::format("\n## {}\n\nMade by `buoy analyze {}` from a trace with `observe` {}{}.\n",
                         producer.title, producer.name, producer.observe, producer.data);
    case Source::kEvaluation:
      return fmt::format("\n## {}\n\nMade by `buoy eval`.\n", producer.title);
    case Source::kClaims:
      return fmt::format("\n## {}\n\nMade by `buoy report`.\n", producer.title);
    case Source::kStudy:
      return fmt::format("\n## {}\n\nMade by `buoy study`.\n", producer.title);
    case Source::kTerminal:
      break;
  }
  return fmt::format("\n## {}\n\nPrinted by `buoy {}`, {}.\n", producer.title, producer.name,
                     producer.data.empty() ? "not written to a file" : producer.data);
}

std::string needs_of(const TableSchema& table) {
  const bool more = !table.needs().observe.empty() || !table.needs().question.empty();
  return more ? fmt::format(" To have rows: {}.", how_to_get(table)) : "";
}

}  // namespace

std::string describe_tables() {
  std::string out(kIntroduction);
  const Producer* producer = nullptr;
  for (const auto* table : all_tables()) {
    if (producer != &table->producer()) out += heading(table->producer());
    producer = &table->producer();
    out += fmt::format("\n### `{}`\n\n{}.{}\n\n| column | unit | meaning |\n|---|---|---|\n", table->name(),
                       cell_text(table->title()), needs_of(*table));
    for (const auto* column : table->columns()) {
      const char* bold = column->role() == Role::kAxis ? "**" : "";
      out += fmt::format("| {0}`{1}`{0} | {2} | {3} |\n", bold, column->name(), cell_text(column->unit()),
                         cell_text(column->meaning()));
    }
  }
  return out;
}

}  // namespace buoy::schema
