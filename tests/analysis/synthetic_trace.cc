#include "analysis/synthetic_trace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "analysis/text_case.h"
#include "buoy/base/sha256.h"
#include "buoy/trace/schema.h"
#include "support/temp_folder.h"
#include "support/written_table.h"

namespace buoy::testing {

SyntheticTrace::SyntheticTrace(const ModelSize& size) : size_(size) {
  manifest_.created_by = "buoy test";
  manifest_.model = {.name = "synthetic",
                     .family = "LLaDA",
                     .architecture = "LLaDAModelLM",
                     .stored_dtype = "F32",
                     .layers = size.layers,
                     .heads = size.heads,
                     .kv_heads = size.heads,
                     .head_dim = size.head_dim,
                     .hidden = size.heads * size.head_dim,
                     .vocabulary = 1000,
                     .config_sha256 = sha256_hex("synthetic"),
                     .weights_sha256 = sha256_hex("synthetic")};
}

trace::Sample& SyntheticTrace::add(const Row& row) {
  const std::string id = "sample-" + std::to_string(samples_.size());
  manifest_.sample_ids.push_back(id);
  trace::Sample& sample = samples_.emplace_back();
  sample.id = id;
  sample.metadata[std::string(trace::kPromptLength)] = std::to_string(row.prompt_length);
  sample.metadata[std::string(trace::kAttention)] = row.causal ? "causal" : "bidirectional";
  std::vector<std::int32_t> steps(static_cast<size_t>(row.steps)), layers(static_cast<size_t>(size_.layers));
  std::iota(steps.begin(), steps.end(), 0);
  std::iota(layers.begin(), layers.end(), 0);
  sample.arrays.push_back(
      trace::integer_array(trace::kTokens, {static_cast<std::int64_t>(row.tokens.size())}, row.tokens));
  sample.arrays.push_back(trace::integer_array(trace::kSteps, {row.steps}, steps));
  sample.arrays.push_back(trace::integer_array(trace::kLayers, {size_.layers}, layers));
  return sample;
}

std::vector<Table> SyntheticTrace::analyze(const std::string& name,
                                           const analysis::AnalysisOptions& options) const {
  const TempFolder folder;
  write_trace(folder / "trace", {manifest_, samples_});
  analysis::RunOptions run;
  run.analysis = options;
  return analysis::run_analyses({name}, {{folder / "trace", "synthetic"}}, run).analyses[0].tables;
}

const Table& table_of(const std::vector<Table>& tables, const std::string& name) {
  for (const auto& table : tables) {
    if (table.name == name) return table;
  }
  throw std::runtime_error("no table " + name);
}

Table rows_where(const Table& table, const std::map<std::string, std::string>& where) {
  Table out = table;
  out.rows.clear();
  for (const auto& row : table.rows) {
    bool wanted = true;
    for (const auto& [column, value] : where)
      wanted &= text_of(row[testing::column_named(table, column)]) == value;
    if (wanted) out.rows.push_back(row);
  }
  return out;
}

double number_at(const Table& table, const std::map<std::string, std::string>& where,
                 const std::string& column) {
  const Table rows = rows_where(table, where);
  EXPECT_EQ(rows.rows.size(), 1u) << table.name;
  return rows.rows.empty() ? std::nan("") : number_of(rows.rows[0][testing::column_named(table, column)]);
}

}  // namespace buoy::testing
