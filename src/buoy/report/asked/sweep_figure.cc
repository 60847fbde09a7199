#include "buoy/report/asked/sweep_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "buoy/report/asked/score_bars.h"
#include "buoy/report/finding.h"
#include "buoy/report/sections.h"
#include "buoy/result/schema/evaluation.h"

namespace buoy::report {
namespace {

bool all_numbers(const std::vector<std::string>& texts) {
  return std::all_of(texts.begin(), texts.end(), [](const std::string& text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  });
}

// What is hidden or switched off, and what in its place.
struct Drawn {
  std::string axis, name;
  std::size_t style;
};

// The swept axis and its controls, each with a colour; several draws of one kind share theirs and one name.
std::vector<Drawn> curves_of(const std::string& axis, const std::vector<std::string>& axes) {
  const bool heads = axis == "heads-off";
  std::vector<Drawn> out = {{axis, heads ? "best heads" : "top keys", 0}};
  bool random = false;
  for (const auto& other : axes) {
    if (!other.starts_with(axis + "-") || !is_control(other, axes)) continue;
    if (other == axis + "-mass") {
      out.push_back({other, "same mass", 2});
    } else {
      out.push_back({other, random ? "" : "random", 1});
      random = true;
    }
  }
  return out;
}

// Values of a sweep against its first: the last of numbers, all of names.
std::string sweep_title(const SweptTables& run, const std::string& axis) {
  const auto& t = schema::eval_effects;
  const auto all = run.effects.where({{t.axis, axis}, {t.metric, "exact_match"}});
  auto values = all.distinct(t.value);
  if (values.size() > 1 && all_numbers(values)) values = {values.back()};
  const auto sets = all.distinct(t.set);
  std::vector<Measured> numbers;
  for (const auto& value : values) {
    for (const auto& model : all.distinct(t.model)) {
      for (const auto& set : sets) {
        const auto row = all.where({{t.value, value}, {t.model, model}, {t.set, set}});
        const std::string who = fmt::format("{}, {}{}", value, model, sets.size() == 1 ? "" : ", " + set);
        numbers.push_back(measured(who, row, {t.difference, t.items}, 0));
      }
    }
  }
  return title_of({fmt::format("Change of exact match against {} = {}", axis, all.text(t.first)),
                   fmt::format("Exact match by {}", axis), "no change"},
                  numbers);
}

NamedFigure plain_figure(const SweptTables& run, const std::string& axis) {
  const auto& t = schema::eval_scores;
  const TableView& scores = run.scores;
  const auto all = scores.where({{t.axis, axis}, {t.metric, "exact_match"}});
  const auto closed = scores.where({{t.condition, "closed-book"}, {t.metric, "exact_match"}});
  std::vector<figure::Panel> panels;
  for (const auto& set : all.distinct(t.set)) {
    const auto rows = all.where({{t.set, set}});
    if (!all_numbers(rows.distinct(t.value))) {
      panels.push_back({set, bars(rows, {t.model, t.value, t.mean}, "exact match")});
      continue;
    }
    figure::LineChart chart{axis, "exact match", {}, {}, {}, 0.0, 1.05};
    for (const auto& model : rows.distinct(t.model)) {
      const auto mine = rows.where({{t.model, model}});
      figure::Series series{
          model, {}, mine.numbers(t.mean), mine.numbers(t.mean.lower), mine.numbers(t.mean.upper)};
      for (const auto& value : mine.texts(t.value)) series.x.push_back(std::stod(value));
      if (!has_number(series.lower)) series.lower = series.upper = {};
      const double without = closed.where({{t.model, model}, {t.set, set}}).number(t.mean);
      if (std::isfinite(without))
        chart.references.push_back(
            {"closed book", series.x, std::vector<double>(series.x.size(), without), chart.series.size()});
      chart.series.push_back(std::move(series));
    }
    panels.push_back({set, chart});
  }
  figure::Figure page = page_of(std::move(panels));
  page.title = sweep_title(run, axis);
  page.caption = counted_items(all);
  return {"eval_sweep_" + axis,
          fmt::format("Exact match against {}; bands or whiskers: 95% intervals over items.{}", axis,
                      closed.empty() ? "" : " Dotted: closed book."),
          page};
}

figure::Series curve_of(const TableView& rows, const Drawn& drawn, const TableView& beginning) {
  const auto& t = schema::eval_scores;
  figure::Series series{drawn.name, {}, {}, {}, {}, drawn.style};
  series.dashed = drawn.style > 0;
  const auto add = [&](const TableView& from) {
    for (const auto& value : from.texts(t.value)) series.x.push_back(std::stod(value));
    const auto append = [](std::vector<double>& to, const std::vector<double>& values) {
      to.insert(to.end(), values.begin(), values.end());
    };
    append(series.y, from.numbers(t.mean));
    append(series.lower, from.numbers(t.mean.lower));
    append(series.upper, from.numbers(t.mean.upper));
  };
  // With nothing hidden all are the same run.
  if (!beginning.empty() && rows.where({{t.value, "0"}}).empty()) add(beginning);
  add(rows);
  if (!has_number(series.lower)) series.lower = series.upper = {};
  return series;
}

NamedFigure figure_with_controls(const SweptTables& run, const std::string& axis,
                                 const std::vector<Drawn>& drawn) {
  const auto& t = schema::eval_scores;
  const auto all = run.scores.where({{t.metric, "exact_match"}});
  const auto sets = all.where({{t.axis, axis}}).distinct(t.set);
  std::vector<figure::Panel> panels;
  for (const auto& set : sets) {
    for (const auto& model : all.where({{t.axis, axis}, {t.set, set}}).distinct(t.model)) {
      figure::LineChart chart{axis, "exact match", {}, {}, {}, 0.0, 1.05};
      const auto mine = all.where({{t.set, set}, {t.model, model}});
      const auto beginning = mine.where({{t.axis, axis}, {t.value, "0"}});
      for (const auto& one : drawn)
        chart.series.push_back(curve_of(mine.where({{t.axis, one.axis}}), one, beginning));
      panels.push_back({sets.size() == 1 ? model : fmt::format("{}, {}", model, set), chart});
    }
  }
  figure::Figure page = page_of(std::move(panels));
  page.title = sweep_title(run, axis);
  page.caption = counted_items(all.where({{t.axis, axis}}));
  std::string controls;
  for (const auto& one : drawn) {
    if (one.style == 0 || one.name.empty()) continue;
    controls += controls.empty() ? "" : "; ";
    controls += one.style == 1 ? "random: as many others, drawn" : "same mass: others that receive as much";
  }
  return {"eval_sweep_" + axis,
          fmt::format("Exact match against {}, with controls; bands: 95% intervals over items. {}.", axis,
                      controls),
          page};
}

}  // namespace

bool is_control(const std::string& axis, const std::vector<std::string>& axes) {
  return std::any_of(axes.begin(), axes.end(), [&](const std::string& swept) {
    return axis.starts_with(swept + "-random") || axis == swept + "-mass";
  });
}

NamedFigure sweep_figure(const SweptTables& run, const std::string& axis,
                         const std::vector<std::string>& axes) {
  const auto drawn = curves_of(axis, axes);
  return drawn.size() > 1 ? figure_with_controls(run, axis, drawn) : plain_figure(run, axis);
}

void read_sweep(const TableView& scores, const std::string& axis, std::vector<std::string>& readings) {
  const auto& t = schema::eval_scores;
  const auto all = scores.where({{t.axis, axis}, {t.metric, "exact_match"}});
  for (const auto& model : all.distinct(t.model)) {
    for (const auto& set : all.distinct(t.set)) {
      const auto rows = all.where({{t.model, model}, {t.set, set}});
      const auto means = rows.numbers(t.mean);
      const auto values = rows.texts(t.value);
      if (!has_number(means)) continue;
      const auto less = [](double a, double b) { return std::isnan(b) ? false : std::isnan(a) || a < b; };
      const auto low = std::min_element(means.begin(), means.end(), [](double a, double b) {
        return std::isnan(a) ? false : std::isnan(b) || a < b;
      });
      const auto high = std::max_element(means.begin(), means.end(), less);
      if (*low == *high) {
        readings.push_back(
            fmt::format("{} on {}: exact match is {:.3g} at every {}.", model, set, *low, axis));
        continue;
      }
      readings.push_back(fmt::format("{} on {}: exact match runs from {:.3g} ({} = {}) to {:.3g} ({} = {}).",
                                     model, set, *low, axis, values[static_cast<size_t>(low - means.begin())],
                                     *high, axis, values[static_cast<size_t>(high - means.begin())]));
    }
  }
}

}  // namespace buoy::report
