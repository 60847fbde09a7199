#include "buoy/claims/siblings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "buoy/base/counted.h"
#include "buoy/base/error.h"
#include "buoy/base/file/gzip.h"
#include "buoy/claims/rules.h"
#include "buoy/result/csv.h"
#include "buoy/result/schema/claims.h"

namespace buoy::claims {
namespace {

constexpr const auto& kTable = schema::claim_quantities;
constexpr std::uintmax_t kLargestTable = std::uintmax_t{64} << 20;
constexpr std::size_t kLongestText = 1000;  // of a cell that goes onto the page

// The cells of one record by their declared columns.
class Cells {
 public:
  Cells(const CsvRecord& record, const std::map<std::string, std::size_t>& places, const std::string& file)
      : record_(record), places_(places), file_(file) {}

  std::string text(const ColumnSchema& column) const {
    const std::string& cell = record_.cells[places_.at(std::string(column.name()))];
    if (cell.size() > kLongestText)
      fail(column, fmt::format("at most {} characters", kLongestText), fmt::to_string(cell.size()));
    return cell;
  }

  std::string required(const ColumnSchema& column) const {
    std::string cell = text(column);
    if (cell.empty()) fail(column, "a text", "nothing");
    return cell;
  }

  std::string one_of(const ColumnSchema& column, std::initializer_list<std::string_view> words) const {
    std::string cell = text(column);
    if (std::find(words.begin(), words.end(), cell) != words.end()) return cell;
    fail(column, fmt::format("one of \"{}\"", fmt::join(words, "\", \"")), '"' + cell + '"');
  }

  // NaN where there is none.
  double number(const ColumnSchema& column) const {
    const std::string cell = text(column);
    double value = std::numeric_limits<double>::quiet_NaN();
    if (cell.empty()) return value;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value))
      fail(column, "a number", '"' + cell + '"');
    return value;
  }

  std::int64_t count(const ColumnSchema& column) const {
    const double value = number(column);
    if (!(value >= 0 && value <= 1e12 && value == std::floor(value)))
      fail(column, "a whole number from 0 on", '"' + text(column) + '"');
    return static_cast<std::int64_t>(value);
  }

  stats::Estimate estimate() const {
    const stats::Estimate out{number(kTable.value), number(kTable.value.lower), number(kTable.value.upper),
                              count(kTable.samples)};
    if (!std::isfinite(out.value)) fail(kTable.value, "a number", "nothing");
    if (out.lower > out.upper)
      fail(kTable.value.lower, fmt::format("no more than upper, {:g}", out.upper),
           fmt::format("{:g}", out.lower));
    return out;
  }

 private:
  [[noreturn]] void fail(const ColumnSchema& column, const std::string& expected,
                         const std::string& found) const {
    throw_input_error({fmt::format("{}:{}: column {}", file_, record_.line, column.name()), expected,
                       found.size() > 80 ? found.substr(0, 80) + "..." : found});
  }

  const CsvRecord& record_;
  const std::map<std::string, std::size_t>& places_;
  const std::string& file_;
};

std::map<std::string, std::size_t> places_of(const CsvRecord& head, const std::string& file) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < head.cells.size(); ++i) places.try_emplace(head.cells[i], i);
  for (const auto* column : kTable.columns()) {
    if (!places.contains(std::string(column->name())))
      throw_input_error(
          {fmt::format("{}:{}", file, head.line),
           fmt::format("a column {}, as in tables/{}.csv of a report", column->name(), kTable.name()),
           "none of that name"});
  }
  return places;
}

// Who is left out for one reason.
struct LeftOut {
  std::set<std::string> networks, claims;
};

std::string shortened(const std::string& hash) {
  return hash.empty() ? "none" : hash.substr(0, 12);
}

}  // namespace

Table quantities_table(std::span<const NetworkQuantity> quantities) {
  const auto& t = kTable;
  Table table(t);
  const auto text = [](const std::string& value) { return value.empty() ? Cell{} : Cell{value}; };
  for (const auto& one : quantities) {
    const auto& network = one.network;
    const auto& e = one.estimate;
    if (!std::isfinite(e.value)) continue;
    table.add({{t.network, network.name},
               {t.arm, network.arm.empty() ? network.kind() : network.arm},
               {t.kind, network.kind()},
               {t.mask, text(network.mask)},
               {t.objective, network.objective.empty()
                                 ? Cell{network.masked_diffusion ? "masked tokens" : "next token"}
                                 : Cell{network.objective}},
               {t.claim, one.claim},
               {t.quantity, one.quantity},
               {t.data, text(one.data)},
               {t.value, IntervalCells{e.value, e.lower, e.upper}},
               {t.samples, e.samples},
               {t.rules, rules_hash()},
               {t.questions, text(one.questions)},
               {t.weights, text(network.weights)},
               {t.control, text(network.control)}});
  }
  return table;
}

std::vector<StoredQuantity> read_quantities(const std::filesystem::path& path) {
  const std::string file = path.string();
  const auto records = parse_csv(read_plain_or_gzip(path, kLargestTable), file);
  if (records.empty())
    throw_input_error({file, fmt::format("the table {} as CSV", kTable.name()), "an empty file"});
  const auto places = places_of(records[0], file);
  std::vector<StoredQuantity> out;
  for (std::size_t i = 1; i < records.size(); ++i) {
    const Cells cells(records[i], places, file);
    Network network;
    network.name = cells.required(kTable.network);
    network.masked_diffusion =
        cells.one_of(kTable.kind, {"masked diffusion", "autoregressive"}) == "masked diffusion";
    network.arm = cells.text(kTable.arm);
    network.mask = cells.one_of(kTable.mask, {"", "causal", "prefix", "full"});
    network.objective = cells.text(kTable.objective);
    network.weights = cells.text(kTable.weights);
    network.control = cells.one_of(kTable.control, {"", "untrained"});
    network.sibling = true;
    out.push_back({{cells.required(kTable.claim), cells.required(kTable.quantity), network,
                    cells.text(kTable.data), cells.text(kTable.questions), cells.estimate()},
                   cells.text(kTable.rules)});
  }
  return out;
}

Siblings matching_siblings(std::span<const StoredQuantity> stored, std::span<const NetworkQuantity> own,
                           const std::string& file) {
  Siblings out;
  std::map<std::string, LeftOut> reasons;
  const auto leave_out = [&](const StoredQuantity& one, const std::string& reason) {
    auto& entry = reasons[reason];
    entry.networks.insert(one.quantity.network.name);
    entry.claims.insert(one.quantity.claim);
  };
  for (const auto& one : stored) {
    const auto& quantity = one.quantity;
    if (one.rules != rules_hash()) {
      leave_out(one, fmt::format("the rules of verdicts differ ({} there, {} here)", shortened(one.rules),
                                 shortened(rules_hash())));
      continue;
    }
    if (std::any_of(own.begin(), own.end(),
                    [&](const NetworkQuantity& mine) { return mine.network == quantity.network; }))
      continue;  // measured here, and not counted twice
    const NetworkQuantity* match = nullptr;
    const NetworkQuantity* asked = nullptr;
    for (const auto& mine : own) {
      if (mine.claim != quantity.claim || mine.quantity != quantity.quantity) continue;
      if (asked == nullptr || mine.network.masked_diffusion == quantity.network.masked_diffusion)
        asked = &mine;
      if (!mine.questions.empty() && mine.questions == quantity.questions) match = &mine;
    }
    if (match != nullptr) {
      out.quantities.push_back(quantity);
      out.quantities.back().data = match->data;
    } else if (asked != nullptr) {
      leave_out(one, fmt::format("the questions, prompts or decoding settings differ ({} there, {} here)",
                                 shortened(quantity.questions), shortened(asked->questions)));
    }
  }
  for (const auto& [reason, who] : reasons) {
    out.notes.push_back(
        fmt::format("{}: {} {} not count on {}: {}.", file, counted(who.networks.size(), "network"),
                    who.networks.size() == 1 ? "does" : "do", fmt::join(who.claims, ", "), reason));
  }
  if (stored.empty()) out.notes.push_back(fmt::format("{}: the table has no rows.", file));
  return out;
}

}  // namespace buoy::claims
