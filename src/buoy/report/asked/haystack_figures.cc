#include "buoy/report/asked/haystack_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "buoy/report/finding.h"
#include "buoy/report/sections.h"
#include "buoy/result/schema/evaluation.h"

namespace buoy::report {
namespace {

std::vector<std::string> in_order(std::vector<std::string> numbers) {
  std::sort(numbers.begin(), numbers.end(),
            [](const auto& a, const auto& b) { return std::stod(a) < std::stod(b); });
  return numbers;
}

// Depth downwards, as it is in the prompt, and length to the right.
figure::Heatmap accuracy_map(const TableView& rows) {
  const auto& t = schema::eval_haystack;
  const auto lengths = in_order(rows.distinct(t.length)), depths = in_order(rows.distinct(t.depth));
  figure::Heatmap map;
  map.matrix = {depths.size(), lengths.size(), {}};
  for (const auto& depth : depths) {
    for (const auto& length : lengths)
      map.matrix.values.push_back(rows.where({{t.length, length}, {t.depth, depth}}).number(t.mean));
  }
  map.x = {"tokens of the prompt", lengths};
  map.y = {"depth (percent)", depths};
  map.colors.label = "exact match";
  map.colors.low = 0;
  map.colors.high = 1;
  map.print_values = true;
  return map;
}

// The farthest that an interval reaches from its cell.
double widest(const TableView& rows) {
  const auto& t = schema::eval_haystack;
  const auto mean = rows.numbers(t.mean), lower = rows.numbers(t.mean.lower),
             upper = rows.numbers(t.mean.upper);
  double most = 0;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    if (std::isfinite(lower[i]) && std::isfinite(upper[i]))
      most = std::max({most, mean[i] - lower[i], upper[i] - mean[i]});
  }
  return most;
}

// Of a sweep, which has figures of its own.
TableView of_first_condition(const TableView& rows) {
  const auto& t = schema::eval_haystack;
  return rows.where({{t.condition, rows.text(t.condition)}});
}

}  // namespace

std::vector<NamedFigure> haystack_figures(const TableView& haystack) {
  const auto& t = schema::eval_haystack;
  std::vector<NamedFigure> out;
  for (const auto& set : haystack.distinct(t.set)) {
    const auto rows = of_first_condition(haystack.where({{t.set, set}}));
    const std::string condition = rows.text(t.condition);
    figure::Figure page;
    for (const auto& model : rows.distinct(t.model))
      page.panels.push_back({model, accuracy_map(rows.where({{t.model, model}}))});
    page.columns = std::min<std::size_t>(page.panels.size(), 2);
    page.letters = page.panels.size() > 1;
    page.one_scale = page.panels.size() > 1;
    page.title = "Exact match by length of the prompt and depth of the needle";
    page.caption = counted(rows, {t.model, t.items, "item"});
    const double reach = widest(rows);
    const std::string interval =
        reach > 0 ? fmt::format("; its 95% interval reaches at most {:.2f} to a side", reach) : "";
    out.push_back({fmt::format("eval_haystack_{}", set),
                   fmt::format("Exact match on {}, {}. n is of every cell{}.", set, condition, interval),
                   std::move(page)});
  }
  return out;
}

void read_haystacks(const TableView& haystack, std::vector<std::string>& readings) {
  const auto& t = schema::eval_haystack;
  for (const auto& model : haystack.distinct(t.model)) {
    for (const auto& set : haystack.distinct(t.set)) {
      const auto rows = of_first_condition(haystack.where({{t.model, model}, {t.set, set}}));
      const auto mean = rows.numbers(t.mean);
      if (!has_number(mean)) continue;
      const auto [low, high] = std::minmax_element(mean.begin(), mean.end());
      const std::string who = fmt::format("{} on {}, {}", model, set, rows.text(t.condition));
      if (*low == *high) {
        readings.push_back(fmt::format("{}: exact match is {:.3g} at every length and depth.", who, *low));
        continue;
      }
      const auto cell = [&](auto at) {
        const auto i = static_cast<std::size_t>(at - mean.begin());
        return fmt::format("{:.3g} ({} tokens, depth {}%)", *at, rows.texts(t.length)[i],
                           rows.texts(t.depth)[i]);
      };
      readings.push_back(fmt::format("{}: exact match runs from {} to {}.", who, cell(low), cell(high)));
    }
  }
}

}  // namespace buoy::report
