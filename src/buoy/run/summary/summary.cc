#include "buoy/run/summary/summary.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/run/summary/summary_tables.h"

namespace buoy::run {
namespace {

// "0.93 [0.90, 0.96]"
std::string estimate_text(const Table& table, const std::vector<Cell>& row) {
  const double mean = number_of(row[table.column("mean")]), lower = number_of(row[table.column("lower")]),
               upper = number_of(row[table.column("upper")]);
  if (std::isnan(mean)) return "";
  if (std::isnan(lower)) return fmt::format("{:.3f}", mean);
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", mean, lower, upper);
}

}  // namespace

std::vector<Table> summarise(const ScoreBook& book, const stats::BootstrapOptions& options) {
  std::vector<Table> tables = {scores_table(book, options)};
  for (auto& table :
       {averages_table(book, options), gains_table(book, options), gain_ratio_table(book, options),
        differences_table(book, options), effects_table(book, options), middle_table(book, options),
        columns_table(book, options), positions_table(book, options), labels_table(book, options),
        attention_table(book, options), failures_table(book)}) {
    if (!table.rows.empty()) tables.push_back(table);
  }
  return tables;
}

Table overview(const std::vector<Table>& tables) {
  const Table& scores = tables.front();
  Table out{"overview", "Scores with intervals", {}, {}};
  for (const char* name : {"model", "set", "condition", "items", "failed"}) out.columns.push_back({name, ""});
  for (const auto& metric : metrics()) out.columns.push_back({metric.name, metric.meaning});
  for (const auto& row : scores.rows) {
    const std::string metric = text_of(row[scores.column("metric")]);
    if (metric == metrics().front().name) {
      out.rows.emplace_back();
      for (const char* name : {"model", "set", "condition", "items", "failed"})
        out.rows.back().push_back(row[scores.column(name)]);
    }
    out.rows.back().emplace_back(estimate_text(scores, row));
  }
  return out;
}

void write_summary(const std::vector<Table>& tables, const std::filesystem::path& folder) {
  Json json = {{"format", "buoy evaluation summary 1"}, {"tables", Json::array()}};
  for (const auto& table : tables) json["tables"].push_back(Json::parse(to_json(table)));
  write_file_atomically(folder / "summary.json", dump_json(json, 1) + '\n');
  write_file_atomically(folder / "summary.csv", to_csv(tables.front()));
}

}  // namespace buoy::run
