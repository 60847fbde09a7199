#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "buoy/analysis/core/all_tables.h"
#include "buoy/base/error.h"
#include "buoy/base/file/files.h"
#include "buoy/base/nearest.h"
#include "buoy/result/schema/common.h"
#include "buoy/study/checked_table_toml.h"
#include "buoy/study/guard_toml.h"
#include "buoy/study/published/published_values.h"

namespace buoy::study {
namespace {

std::string or_nearest(const std::string& name, const std::vector<std::string>& all) {
  const auto near = nearest(name, all);
  return near.empty() ? fmt::format("one of {}", fmt::join(all, ", ")) : fmt::format("\"{}\"?", near);
}

// A table that studies write, and a column of it.
void check_own(CheckedTable& table, const OwnNumber& ours) {
  std::vector<std::string> names;
  const TableSchema* declared = nullptr;
  for (const auto* schema : schema::all_tables()) {
    names.emplace_back(schema->name());
    if (schema->name() == ours.table) declared = schema;
  }
  if (declared == nullptr)
    return table.fail("table", or_nearest(ours.table, names), fmt::format("\"{}\"", ours.table));
  std::vector<std::string> columns = {std::string(schema::trace.name())};
  for (const auto* column : declared->columns()) columns.emplace_back(column->name());
  const auto check = [&](const std::string& key, const std::string& column) {
    if (std::find(columns.begin(), columns.end(), column) == columns.end())
      table.fail(key, or_nearest(column, columns), fmt::format("\"{}\"", column));
  };
  check("column", ours.column);
  for (const auto& [column, text] : ours.where) check("where", column);
}

OwnNumber read_ours(const toml::table& written, const TomlSource& source) {
  CheckedTable table(written, source, "value.ours");
  OwnNumber ours;
  ours.table = table.required_text("table");
  ours.column = table.required_text("column");
  if (const auto scale = table.number("scale")) ours.scale = *scale;
  if (const auto mean = table.boolean("mean")) ours.mean = *mean;
  if (const auto* where = table.table("where")) {
    CheckedTable conditions(*where, source, "value.ours.where");
    for (const auto& key : conditions.keys()) {
      if (const auto text = conditions.text(key)) ours.where[key] = *text;
    }
    conditions.finish();
  }
  table.finish();
  if (!ours.table.empty()) check_own(table, ours);
  return ours;
}

struct Keyed {
  std::string paper;  // its key
  PublishedValue value;
};

Keyed read_one_value(const toml::table& written, const TomlSource& source,
                     const std::map<std::string, std::string>& citations) {
  CheckedTable table(written, source, "value");
  Keyed out;
  auto& value = out.value;
  out.paper = table.required_text("paper");
  value.quantity = table.required_text("quantity");
  value.text = table.required_text("value");
  value.condition = table.text("condition").value_or("");
  value.unit = table.text("unit").value_or("");
  value.differs = table.text("differs").value_or("");
  if (const auto* network = table.table("network")) {
    CheckedTable inner(*network, source, "value.network");
    value.network = inner.required_text("name");
    value.shape.family = inner.text("family").value_or("");
    value.shape.layers = inner.integer<std::int64_t>("layers", {1, 10'000}).value_or(0);
    if (value.shape.family.empty() != (value.shape.layers == 0))
      inner.fail("name", "family and layers together", "one of them");
    inner.finish();
  }
  if (const auto* ours = table.table("ours")) value.ours = read_ours(*ours, source);
  table.finish();
  const auto cited = citations.find(out.paper);
  if (cited != citations.end()) {
    value.paper = cited->second;
  } else if (!out.paper.empty()) {
    table.fail("paper", "the key of a [[paper]]", fmt::format("\"{}\"", out.paper));
  }
  return out;
}

}  // namespace

std::vector<PublishedValue> read_published(const std::filesystem::path& file,
                                           const std::vector<std::string>& papers) {
  constexpr std::uintmax_t kLargest = std::uintmax_t{1} << 20;
  const std::string text = read_file(file, kLargest);
  check_toml(text, file.string());
  toml::table root;
  try {
    root = toml::parse(text, file.string());
  } catch (const toml::parse_error& error) {
    throw_input_error({fmt::format("{}:{}", file.string(), error.source().begin.line), "TOML",
                       std::string(error.description())});
  }
  Problems problems;
  const TomlSource source{file.string(), problems};
  CheckedTable table(root, source, "");
  std::map<std::string, std::string> citations;
  for (const auto* written : table.tables("paper")) {
    CheckedTable paper(*written, source, "paper");
    const auto key = paper.required_text("key"), citation = paper.required_text("citation");
    paper.finish();
    if (!citations.emplace(key, citation).second)
      paper.fail("key", "different keys", fmt::format("\"{}\" twice", key));
  }
  std::vector<Keyed> all;
  for (const auto* written : table.tables("value"))
    all.push_back(read_one_value(*written, source, citations));
  table.finish();
  std::vector<std::string> known;
  for (const auto& [key, citation] : citations) known.push_back(key);
  for (const auto& paper : papers) {
    if (!citations.contains(paper))
      problems.push_back(describe(Mismatch{fmt::format("{}: paper", file.string()), or_nearest(paper, known),
                                           fmt::format("\"{}\"", paper)}));
  }
  if (!problems.empty()) throw InputError(fmt::format("{}", fmt::join(problems, "\n")));
  std::vector<PublishedValue> out;
  for (const auto& paper : papers) {
    for (const auto& one : all) {
      if (one.paper == paper) out.push_back(one.value);
    }
  }
  return out;
}

}  // namespace buoy::study
