#include "buoy/run/summary/summary.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/file/json_file.h"
#include "buoy/result/schema/evaluation.h"
#include "buoy/run/summary/summary_tables.h"

namespace buoy::run {
namespace {

// "0.93 [0.90, 0.96]"
std::string estimate_text(const Table& table, const std::vector<Cell>& row) {
  const auto number = [&](const ColumnSchema& column) { return number_of(row[table.column(column)]); };
  const Interval& columns = schema::eval_scores.mean;
  const double mean = number(columns), lower = number(columns.lower), upper = number(columns.upper);
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
        columns_table(book, options), positions_table(book, options), haystack_table(book, options),
        labels_table(book, options), attention_table(book, options), failures_table(book)}) {
    if (!table.rows.empty()) tables.push_back(table);
  }
  return tables;
}

Table overview(const std::vector<Table>& tables) {
  const auto& t = schema::overview;
  const auto& from = schema::eval_scores;
  const Table& scores = tables.front();
  Table out(t);
  const size_t many = metrics().size();
  BUOY_CHECK(scores.rows.size() % many == 0);
  for (size_t first = 0; first < scores.rows.size(); first += many) {  // a cell's metrics follow each other
    const auto& row = scores.rows[first];
    Row cells;
    const std::pair<const ColumnSchema*, const ColumnSchema*> facts[] = {{&t.model, &from.model},
                                                                         {&t.set, &from.set},
                                                                         {&t.condition, &from.condition},
                                                                         {&t.items, &from.items},
                                                                         {&t.failed, &from.failed}};
    for (const auto& [to, source] : facts) cells.emplace_back(*to, row[scores.column(*source)]);
    for (size_t m = 0; m < many; ++m)
      cells.emplace_back(*metrics()[m].column, estimate_text(scores, scores.rows[first + m]));
    out.add(std::move(cells));
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
