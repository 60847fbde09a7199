#include "buoy/report/finding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "buoy/claims/claims.h"
#include "buoy/report/sections.h"

namespace buoy::report {
namespace {

constexpr size_t kMostSaid = 4;    // more make no title
constexpr size_t kMostUntold = 2;  // beyond them: "the others"

bool enough(double samples) {
  return samples >= static_cast<double>(claims::kFewestSamples);
}

bool has_interval(const Measured& number) {
  return std::isfinite(number.value) && std::isfinite(number.lower) && std::isfinite(number.upper);
}

bool holds_null(const Measured& number) {
  return number.lower <= number.null && number.null <= number.upper;
}

// With "and N more" behind the most that a title takes.
std::string said_list(std::vector<std::string> parts) {
  if (parts.size() > kMostSaid) {
    const size_t more = parts.size() - (kMostSaid - 1);
    parts.resize(kMostSaid - 1);
    parts.push_back(fmt::format("{} more", more));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

// No line ends inside an interval, and minus signs are ones.
std::string in_one_line(const Measured& number) {
  std::string out;
  for (const char c : with_interval(number.value, number.lower, number.upper)) {
    if (c == ' ')
      out += "\u00A0";
    else if (c == '-')
      out += "\u2212";
    else
      out += c;
  }
  return out;
}

struct Count {
  double least = 0, most = 0;
  bool operator==(const Count&) const = default;
};

std::string count_text(const Count& count) {
  return count.least == count.most ? fmt::format("{:g}", count.most)
                                   : fmt::format("{:g} to {:g}", count.least, count.most);
}

}  // namespace

Measured measured(const std::string& who, const TableView& rows, const MeasuredColumns& columns,
                  double null) {
  if (rows.empty() || !rows.has(columns.samples)) return {who};
  const auto& value = columns.value;
  return {who,
          rows.number(value),
          rows.number(value.lower),
          rows.number(value.upper),
          rows.number(columns.samples),
          null};
}

std::string title_of(const Finding& finding, const std::vector<Measured>& numbers) {
  std::vector<std::string> said, like_null;
  for (const auto& number : numbers) {
    if (!enough(number.samples) || !has_interval(number)) continue;
    if (holds_null(number)) {
      like_null.push_back(number.who);
      continue;
    }
    std::string against;
    if (finding.shows_null && std::isfinite(number.null))
      against = fmt::format(" against {:.2g}{}", number.null, said.empty() ? " " + finding.null_name : "");
    said.push_back(fmt::format("{}{} ({})", in_one_line(number), against, number.who));
  }
  if (said.empty()) return finding.neutral;
  std::string title = fmt::format("{}: {}", finding.what, said_list(said));
  if (!like_null.empty()) {
    title +=
        fmt::format("; {} cannot be told from {}",
                    like_null.size() > kMostUntold ? "the others" : said_list(like_null), finding.null_name);
  }
  return title;
}

std::string title_of_parts(const Finding& finding, const std::vector<PartCount>& counts,
                           const std::string& unit) {
  std::vector<std::string> said;
  bool any = false;
  for (const auto& count : counts) {
    if (!enough(count.samples) || count.parts == 0) continue;
    any |= count.above > 0;
    said.push_back(fmt::format("{} of {} {} ({})", count.above, count.parts, unit, count.who));
  }
  return any ? fmt::format("{} in {}", finding.what, said_list(said)) : finding.neutral;
}

std::string counted(const TableView& rows, const CountedColumns& columns) {
  if (rows.empty() || !rows.has(columns.who) || !rows.has(columns.count)) return "";
  std::vector<std::pair<std::string, Count>> counts;
  for (const auto& who : rows.distinct(columns.who)) {
    const auto numbers = rows.where({{columns.who, who}}).numbers(columns.count);
    std::vector<double> known;
    for (const double number : numbers) {
      if (number >= columns.least) known.push_back(number);
    }
    if (known.empty()) continue;
    const auto [least, most] = std::minmax_element(known.begin(), known.end());
    counts.push_back({who, {*least, *most}});
  }
  if (counts.empty()) return "";
  const Count first = counts.front().second;
  const std::string unit = columns.unit + (first.most == 1 ? "" : "s");
  const bool same =
      std::all_of(counts.begin(), counts.end(), [&](const auto& count) { return count.second == first; });
  if (same) return fmt::format("n = {} {}{}", count_text(first), unit, counts.size() > 1 ? " each" : "");
  std::vector<std::string> parts;
  for (const auto& [who, count] : counts) {
    parts.push_back(
        fmt::format("{}{} ({})", count_text(count), parts.empty() ? " " + unit : std::string(), who));
  }
  return fmt::format("n = {}", fmt::join(parts, ", "));
}

std::string one_sample() {
  return "n = 1 sample";
}

}  // namespace buoy::report
