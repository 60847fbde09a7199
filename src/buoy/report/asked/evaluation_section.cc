#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "buoy/report/asked/haystack_figures.h"
#include "buoy/report/asked/score_bars.h"
#include "buoy/report/asked/sweep_figure.h"
#include "buoy/report/finding.h"
#include "buoy/report/sections.h"
#include "buoy/result/schema/evaluation.h"

namespace buoy::report {
namespace {

// The tables of one run; its label is "" where there is only one.
struct Run {
  std::string label;
  TableView scores, gains, differences, effects, attention, failures, haystack;
};

// Where two models answered, the one against the other: under the last condition, on the first set.
std::string scores_title(const Run& run) {
  const auto& t = schema::eval_differences;
  const Finding finding{"Exact match", "Scores by condition", "no difference"};
  const auto all = run.differences.where({{t.metric, "exact_match"}});
  if (all.empty() || all.distinct(t.a).size() != 1 || all.distinct(t.b).size() != 1) return finding.neutral;
  std::vector<Measured> numbers;
  for (const auto& condition : all.distinct(t.condition)) {
    const auto row = all.where({{t.set, all.text(t.set)}, {t.condition, condition}});
    numbers.push_back(measured(condition, row, {t.difference, t.items}, 0));
  }
  return title_of(
      {fmt::format("Exact match of {} minus that of {} on {}", all.text(t.a), all.text(t.b), all.text(t.set)),
       finding.neutral, finding.null_name},
      numbers);
}

NamedFigure conditions_figure(const Run& run) {
  const auto& t = schema::eval_scores;
  const TableView& scores = run.scores;
  std::vector<figure::Panel> panels;
  for (const auto& set : scores.distinct(t.set)) {
    for (const auto& [metric, title] : {std::pair{"exact_match", "exact match"}, std::pair{"f1", "F1"}}) {
      const auto rows = scores.where({{t.set, set}, {t.metric, metric}});
      panels.push_back(
          {fmt::format("{}: {}", set, title), bars(rows, {t.model, t.condition, t.mean}, title)});
    }
  }
  figure::Figure page = page_of(std::move(panels));
  page.title = scores_title(run);
  page.caption = counted_items(run.scores);
  return {"eval_scores", "Scores by condition; whiskers: 95% intervals over items.", page};
}

// Of the first condition with passages; over all sets where there are several.
std::string gains_title(const TableView& gains) {
  const auto& t = schema::eval_gains;
  const std::string condition = gains.text(t.condition);
  const auto all = gains.where({{t.condition, condition}, {t.metric, "exact_match"}});
  const auto together = all.where({{t.set, "all"}});
  const auto rows = together.empty() ? all.where({{t.set, all.text(t.set)}}) : together;
  std::vector<Measured> numbers;
  for (const auto& model : rows.distinct(t.model))
    numbers.push_back(measured(model, rows.where({{t.model, model}}), {t.gain, t.items}, 0));
  return title_of({fmt::format("Gain in exact match over closed book with {}", condition),
                   "What passages add to closed book", "no gain"},
                  numbers);
}

NamedFigure gains_figure(const TableView& gains) {
  const auto& t = schema::eval_gains;
  std::vector<figure::Panel> panels;
  for (const auto& condition : gains.distinct(t.condition)) {
    if (panels.size() == 6) break;
    const auto rows = gains.where({{t.condition, condition}, {t.metric, "exact_match"}});
    panels.push_back({condition, bars(rows, {t.model, t.set, t.gain}, "gain in exact match")});
  }
  figure::Figure page = page_of(std::move(panels));
  page.title = gains_title(gains);
  page.caption = counted(gains.where({{t.metric, "exact_match"}}), {t.set, t.items, "item"});
  return {"eval_gains",
          "What passages add to closed book, item by item; whiskers: 95% intervals of the mean.", page};
}

// Of one condition: the first whose prompts hold gold documents, where there is one.
NamedFigure attention_figure(const TableView& attention) {
  const auto& t = schema::eval_attention;
  const auto everywhere = attention.where({{t.position, "all"}});
  const auto with_gold = everywhere.where({{t.feature, "gold_lift"}});
  const auto& source = with_gold.empty() ? everywhere : with_gold;
  const std::string set = source.text(t.set), condition = source.text(t.condition);
  const auto all = everywhere.where({{t.set, set}, {t.condition, condition}});
  struct Shown {
    const char *feature, *title, *axis;
  };
  const Shown shown[] = {{"gold_lift", "on gold documents", "times uniform attention"},
                         {"gold_mass_deep", "on gold documents, deepest third", "share of attention"},
                         {"strict_heads", "heads that copy", "share of heads"},
                         {"top_share", "on the strongest column", "share of attention"}};
  std::vector<figure::Panel> panels;
  std::vector<Measured> numbers;
  std::string items;
  for (const auto& model : all.distinct(t.model)) {
    const auto row = all.where({{t.model, model}, {t.feature, shown[0].feature}});
    const auto any = all.where({{t.model, model}});
    // Both kinds of answers have to be many enough.
    numbers.push_back({model, row.number(t.difference), row.number(t.difference.lower),
                       row.number(t.difference.upper),
                       std::min(row.number(t.right_items), row.number(t.wrong_items)), 0});
    items += fmt::format("{}{:g} right and {:g} wrong answers ({})", items.empty() ? "n = " : ", ",
                         any.number(t.right_items), any.number(t.wrong_items), model);
  }
  for (const auto& [feature, title, axis] : shown) {
    const auto rows = all.where({{t.feature, feature}});
    if (rows.empty()) continue;
    figure::BarChart chart{axis, {}, {{"right", {}, {}, {}}, {"wrong", {}, {}, {}}}, {}, ""};
    for (const auto& model : rows.distinct(t.model)) {
      const auto row = rows.where({{t.model, model}});
      chart.groups.push_back(model);
      chart.series[0].values.push_back(row.number(t.right));
      chart.series[1].values.push_back(row.number(t.wrong));
    }
    if (feature == shown[0].feature) {
      chart.references.assign(chart.groups.size(), 1.0);
      chart.reference_name = kUniformName;
    }
    panels.push_back({title, chart});
  }
  figure::Figure page = page_of(std::move(panels));
  page.title = title_of({"Attention on gold documents (times uniform), right minus wrong answers",
                         "Attention of right and of wrong answers", "no difference"},
                        numbers);
  page.caption = items;
  return {"eval_attention",
          fmt::format("Attention of right and of wrong answers: {}, {}. No bar: there were none such.", set,
                      condition),
          page};
}

void read_scores(const TableView& scores, std::vector<std::string>& readings) {
  const auto& t = schema::eval_scores;
  const auto exact = scores.where({{t.metric, "exact_match"}});
  for (const auto& model : exact.distinct(t.model)) {
    for (const auto& set : exact.distinct(t.set)) {
      const auto rows = exact.where({{t.model, model}, {t.set, set}});
      if (rows.size() > 3) continue;  // a sweep is read off its curve
      std::string text;
      for (const auto& condition : rows.distinct(t.condition)) {
        const auto row = rows.where({{t.condition, condition}});
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", condition, with_interval(row, t.mean));
      }
      readings.push_back(fmt::format("{} on {}: exact match {}.", model, set, text));
    }
  }
}

// Items without an answer are in no score; how many, and why the first of each cell.
void read_failures(const TableView& failures, std::vector<std::string>& readings) {
  const auto& t = schema::eval_failures;
  for (const auto& model : failures.distinct(t.model)) {
    for (const auto& set : failures.distinct(t.set)) {
      for (const auto& condition : failures.distinct(t.condition)) {
        const auto rows = failures.where({{t.model, model}, {t.set, set}, {t.condition, condition}});
        if (rows.empty()) continue;
        readings.push_back(fmt::format(
            "{} on {}, {}: {} item{} failed and {} in no score, the first with: {}.", model, set, condition,
            rows.size(), rows.size() == 1 ? "" : "s", rows.size() == 1 ? "is" : "are", rows.text(t.error)));
      }
    }
  }
}

TableView of_run(const TableView& view, const std::string& label) {
  return label.empty() || view.empty() ? view : view.where({{schema::trace, label}});
}

std::vector<Run> runs_of(std::span<const Table> tables) {
  const auto scores = find_table(tables, schema::eval_scores), gains = find_table(tables, schema::eval_gains),
             differences = find_table(tables, schema::eval_differences),
             effects = find_table(tables, schema::eval_effects),
             attention = find_table(tables, schema::eval_attention),
             failures = find_table(tables, schema::eval_failures),
             haystack = find_table(tables, schema::eval_haystack);
  const auto labels =
      scores.has(schema::trace) ? scores.distinct(schema::trace) : std::vector<std::string>{""};
  std::vector<Run> runs;
  for (const auto& label : labels)
    runs.push_back({label, of_run(scores, label), of_run(gains, label), of_run(differences, label),
                    of_run(effects, label), of_run(attention, label), of_run(failures, label),
                    of_run(haystack, label)});
  return runs;
}

void add_run(const Run& run, Section& section) {
  std::vector<std::string> sweeps;
  for (const auto& axis : run.scores.distinct(schema::eval_scores.axis)) {
    if (!axis.empty()) sweeps.push_back(axis);
  }
  std::vector<NamedFigure> figures;
  std::vector<std::string> readings;
  read_scores(run.scores, readings);
  read_failures(run.failures, readings);
  for (const auto& axis : sweeps) {
    if (!is_control(axis, sweeps)) figures.push_back(sweep_figure({run.scores, run.effects}, axis, sweeps));
    read_sweep(run.scores, axis, readings);
  }
  if (sweeps.empty()) figures.push_back(conditions_figure(run));
  if (!run.gains.empty() && sweeps.empty()) figures.push_back(gains_figure(run.gains));
  if (!run.attention.empty()) figures.push_back(attention_figure(run.attention));
  for (auto& figure : haystack_figures(run.haystack)) figures.push_back(std::move(figure));
  read_haystacks(run.haystack, readings);
  for (auto& figure : figures) {
    if (!run.label.empty()) {
      figure.name += "_" + run.label;
      figure.caption = fmt::format("Run {}. {}", run.label, figure.caption);
    }
    section.figures.push_back(std::move(figure));
  }
  for (const auto& reading : readings)
    section.readings.push_back(run.label.empty() ? reading : fmt::format("{}: {}", run.label, reading));
}

}  // namespace

Section evaluation_section(std::span<const Table> tables) {
  Section section = empty_section(
      schema::kEvaluation,
      "How often is the answer right, without passages and with them, and what does that depend on?");
  for (const auto& run : runs_of(tables)) add_run(run, section);
  return section;
}

}  // namespace buoy::report
