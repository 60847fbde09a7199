#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "buoy/report/finding.h"
#include "buoy/report/sections.h"
#include "buoy/result/rule_names.h"
#include "buoy/result/schema/floating.h"

namespace buoy::report {
namespace {

double mean_of(const std::vector<double>& values) {
  double sum = 0, count = 0;
  for (const double v : values) {
    if (std::isfinite(v)) sum += v, ++count;
  }
  return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

std::string sizes_title(std::span<const Table> tables, const TableView& sizes, const std::string& rule) {
  const auto& d = schema::floating_depth;
  const auto depth = find_table(tables, d).where(
      {{d.view, "head_mean"}, {d.quantity, "set_size"}, {d.rule, rule}, {d.depth, "all layers"}});
  std::vector<Measured> numbers;
  for (const auto& trace : depth.distinct(schema::trace)) {
    const auto uniform =
        sizes.where({{schema::trace, trace}}).numbers(schema::floating_by_layer.null_set_size);
    numbers.push_back(
        measured(trace, depth.where({{schema::trace, trace}}), {d.value, d.samples}, mean_of(uniform)));
  }
  return title_of({"Floating tokens per layer and step",
                   "Floating tokens and the strongest of them, by layer", "with uniform attention", true},
                  numbers);
}

NamedFigure by_layer(std::span<const Table> tables) {
  const auto& t = schema::floating_by_layer;
  const auto all = find_table(tables, t);
  const std::string rule = sigma_rule(all, t.rule);
  const auto sizes = all.where({{t.view, "head_mean"}, {t.rule, rule}});
  const auto& c = schema::floating_concentration;
  const auto top = find_table(tables, c).where({{c.view, "per_head"}, {c.measure, "top_share"}});
  figure::LineChart count{"Layer", "Floating tokens", {}, {}, {}, 0.0, {}};
  figure::LineChart share{"Layer", "Share of the top token", {}, {}, {}, 0.0, {}};
  for (const auto& trace : sizes.distinct(schema::trace)) {
    const size_t number = count.series.size();
    const auto of_trace = sizes.where({{schema::trace, trace}}), shares = top.where({{schema::trace, trace}});
    count.series.push_back(curve(trace, of_trace, {t.layer, t.set_size}));
    count.references.push_back(reference(kUniformName, of_trace, {t.layer, t.null_set_size}, number));
    share.series.push_back(curve(trace, shares, {c.layer, c.value}));
    share.references.push_back(reference(kUniformName, shares, {c.layer, c.null}, number));
  }
  figure::Figure page;
  page.columns = 2;
  page.letters = true;
  page.title = sizes_title(tables, sizes, rule);
  page.caption = counted(sizes, {schema::trace, t.samples});
  page.panels = {{rule == kPublishedSigmaRule ? "Three-sigma sets, head mean (published)"
                                              : fmt::format("Sets by {}, head mean", rule),
                  count},
                 {"Largest share, per head", share}};
  return {"floating_by_layer",
          "How many tokens float in each layer (attention averaged over heads first), and how much the "
          "strongest receives (head by head, then averaged). Means over steps and samples; bands: bootstrap "
          "intervals over samples. Dotted: the same on uniform attention with the same mask, which is not "
          "zero for causal layers.",
          page};
}

// What floats: share of each class among floating tokens over its share among all.
NamedFigure composition(std::span<const Table> tables) {
  const auto& t = schema::floating_composition;
  const auto table = find_table(tables, t);
  const std::string rule = share_rule(table, t.rule);
  const auto all = table.where({{t.view, "per_head"}, {t.rule, rule}, {t.dimension, "type"}});
  figure::Figure page;
  page.columns = 2;
  page.letters = true;
  page.title = "What floats, beside all tokens";
  page.caption = counted(all, {schema::trace, t.samples});
  for (const auto& trace : all.distinct(schema::trace)) {
    figure::BarChart chart;
    chart.y_title = "Share";
    figure::BarSeries floating{"floating tokens", {}, {}, {}}, base{"all tokens", {}, {}, {}};
    for (const auto& name : all.distinct(t.token_class)) {
      const auto rows = all.where({{schema::trace, trace}, {t.token_class, name}});
      const double share = mean_of(rows.numbers(t.share)), expected = mean_of(rows.numbers(t.base));
      if (!(share > 0) && !(expected > 0)) continue;
      chart.groups.push_back(name == "white_space" ? "space" : name == "punctuation" ? "punct." : name);
      floating.values.push_back(share);
      base.values.push_back(expected);
    }
    if (chart.groups.empty()) continue;
    chart.series = {floating, base};
    page.panels.push_back({trace, chart});
  }
  return {
      "floating_types",
      fmt::format("What floats ({}, head by head; mean over layers, heads, steps and samples), beside the "
                  "share of each type among all tokens.",
                  rule),
      page};
}

}  // namespace

Section floating_section(std::span<const Table> tables) {
  const auto& t = schema::floating_depth;
  Section section =
      empty_section(schema::kFloating, "Which tokens receive far more attention than the rest?");
  section.figures = {by_layer(tables)};
  if (auto types = composition(tables); !types.figure.panels.empty()) section.figures.push_back(types);
  const auto depth = find_table(tables, t).where({{t.view, "head_mean"}});
  const std::string sigma = sigma_rule(depth, t.rule);
  const auto& k = schema::floating_tokens;
  const auto all_tokens = find_table(tables, k);
  const auto tokens = all_tokens.where({{k.view, "per_head"}, {k.rule, share_rule(all_tokens, k.rule)}});
  for (const auto& trace : depth.distinct(schema::trace)) {
    const auto sizes = depth.where({{schema::trace, trace}, {t.quantity, "set_size"}, {t.rule, sigma}});
    const auto all = sizes.where({{t.depth, "all layers"}}),
               change = sizes.where({{t.depth, "last minus first third"}});
    std::string names;
    for (const auto& token : tokens.where({{schema::trace, trace}}).texts(k.token)) {
      if (names.size() > 60) break;
      names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", token);
    }
    section.readings.push_back(
        fmt::format("{}: {} tokens float per layer and step; from the first to the last third of the layers "
                    "that changes by {}. "
                    "Most often: {}.",
                    trace, with_interval(all, t.value), with_interval(change, t.value),
                    names.empty() ? "nothing passes the share rule" : names));
  }
  return section;
}

}  // namespace buoy::report
