#include "buoy/study/published/published_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/result/schema/published.h"

namespace buoy::study {
namespace {

std::optional<std::size_t> column_of(const Table& table, const std::string& name) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].name == name) return c;
  }
  return std::nullopt;
}

const std::string kNoValue = "it has no value there";

// A number that a table of the study holds, with the label of its network.
struct Found {
  std::string label;
  IntervalCells value;
};

class OwnTable {
 public:
  OwnTable(const Table& table, const OwnNumber& number) : table_(table), number_(number) {}

  std::vector<Found> numbers() const {
    std::vector<Found> out;
    for (const auto& row : table_.rows) {
      if (!is_meant(row)) continue;
      const auto value = [&](const std::string& column) {
        const auto c = column_of(table_, column);
        return c ? number_of(row[*c]) * number_.scale : IntervalCells{}.value;
      };
      Found found{label_of(row), {value(number_.column), value(end("lower")), value(end("upper"))}};
      if (number_.scale < 0) std::swap(found.value.lower, found.value.upper);
      out.push_back(std::move(found));
    }
    return out;
  }

 private:
  bool is_meant(const std::vector<Cell>& row) const {
    return std::all_of(number_.where.begin(), number_.where.end(), [&](const auto& condition) {
      const auto c = column_of(table_, condition.first);
      return c && text_of(row[*c]) == condition.second;
    });
  }

  // A table has its value once, with `lower` and `upper`, or several, each with ends of its own.
  std::string end(const std::string& which) const {
    const std::string own = number_.column + "_" + which;
    return column_of(table_, own) ? own : which;
  }

  // Tables of evaluations name models, those of analyses traces.
  std::string label_of(const std::vector<Cell>& row) const {
    for (const auto* name : {"model", "trace"}) {
      if (const auto c = column_of(table_, name)) return text_of(row[*c]);
    }
    return "";
  }

  const Table& table_;
  const OwnNumber& number_;
};

std::string shape_text(const NetworkShape& shape) {
  return fmt::format("{}, {} layers", shape.family, shape.layers);
}

// "": they can be compared.
std::string why_not(const PublishedValue& value, const NetworkShape& own) {
  std::string reason;
  const bool same = value.shape.family == own.family && value.shape.layers == own.layers;
  if (value.shape.layers > 0 && !same)
    reason = fmt::format("another network ({}; published: {})", shape_text(own), shape_text(value.shape));
  if (!value.differs.empty()) reason += (reason.empty() ? "" : "; ") + value.differs;
  return reason;
}

// One number for each network, of the values that are defined; without any it is not defined.
std::vector<Found> means(const std::vector<Found>& found) {
  std::vector<Found> out;
  for (const auto& one : found) {
    const auto is_same = [&](const Found& other) { return other.label == one.label; };
    if (std::any_of(out.begin(), out.end(), is_same)) continue;
    double sum = 0, count = 0;
    for (const auto& other : found) {
      if (!is_same(other) || std::isnan(other.value.value)) continue;
      sum += other.value.value;
      count += 1;
    }
    out.push_back({one.label, {.value = sum / count}});
  }
  return out;
}

std::vector<Found> found_in(const PublishedValue& value, std::span<const Table> tables,
                            const std::map<std::string, NetworkShape>& networks) {
  if (!value.ours) return {};
  for (const auto& table : tables) {
    if (table.name != value.ours->table) continue;
    auto found = OwnTable(table, *value.ours).numbers();
    std::erase_if(found, [&](const Found& one) { return !networks.contains(one.label); });
    if (value.ours->mean) return means(found);
    for (std::size_t i = 0; i < found.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (found[i].label != found[j].label) continue;
        throw_input_error({fmt::format("published value \"{}\", {}", value.quantity, value.condition),
                           fmt::format("one row of {} for each network", table.name),
                           fmt::format("several of {}: `where` tells too little", found[i].label)});
      }
    }
    return found;
  }
  return {};
}

}  // namespace

Table published_table(std::span<const PublishedValue> values, std::span<const Table> tables,
                      const std::map<std::string, NetworkShape>& networks) {
  const auto& t = schema::published_values;
  Table out(t);
  for (const auto& value : values) {
    const auto add = [&](const std::string& label, const IntervalCells& ours, const std::string& reason) {
      out.add({{t.paper, value.paper},
               {t.quantity, value.quantity},
               {t.condition, value.condition},
               {t.network, value.network},
               {t.unit, value.unit},
               {t.published, value.text},
               {t.measured_on, label},
               {t.ours, ours},
               {t.source, value.ours ? value.ours->table + ", " + value.ours->column : ""},
               {t.comparable, std::string(reason.empty() ? "yes" : "not comparable")},
               {t.reason, reason}});
    };
    const auto found = found_in(value, tables, networks);
    for (const auto& one : found) {
      const std::string reason = why_not(value, networks.at(one.label));
      const bool defined = !std::isnan(one.value.value);
      add(one.label, one.value, defined ? reason : reason.empty() ? kNoValue : kNoValue + ("; " + reason));
    }
    if (!found.empty()) continue;
    const std::string missing = "this study does not measure it";
    add("", {}, value.differs.empty() ? missing : missing + ": " + value.differs);
  }
  return out;
}

std::string describe_published(const Table& table) {
  const auto& t = schema::published_values;
  std::string out, paper, number;
  for (const auto& row : table.rows) {
    const auto text = [&](const ColumnSchema& column) { return text_of(row[table.column(column)]); };
    if (text(t.paper) != paper) out += (paper = text(t.paper)) + '\n';
    const std::string of =
        fmt::format("  {} ({}), {}: {}{}{}\n", text(t.quantity), text(t.condition), text(t.network),
                    text(t.published), text(t.unit).empty() ? "" : " ", text(t.unit));
    if (of != number) out += number = of;
    const std::string lower = text(t.ours.lower), upper = text(t.ours.upper);
    const std::string interval = lower.empty() ? "" : fmt::format(" [{}, {}]", lower, upper);
    if (!text(t.measured_on).empty())
      out += fmt::format("    here, {}: {}{}: {}{}{}\n", text(t.measured_on),
                         text(t.ours).empty() ? "no value" : text(t.ours), interval,
                         text(t.comparable) == "yes" ? "comparable" : text(t.comparable),
                         text(t.reason).empty() ? "" : ", ", text(t.reason));
    else
      out += fmt::format("    {}: {}\n", text(t.comparable), text(t.reason));
  }
  return out;
}

}  // namespace buoy::study
