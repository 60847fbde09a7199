#include <fmt/format.h>

#include "buoy/report/finding.h"
#include "buoy/report/sections.h"
#include "buoy/result/schema/tasks.h"

namespace buoy::report {
namespace {

void add_places(std::span<const Table> tables, figure::Figure& page) {
  const auto& t = schema::tasks_by_task;
  const auto all = find_table(tables, t);
  const auto models = find_table(tables, schema::tasks_by_layer).distinct(schema::tasks_by_layer.model);
  for (const auto& model : models) {
    figure::LineChart chart{"Layer", "Relative position of the anchor", {}, {}, {}, 0.0, 1.0};
    const auto of_model = all.where({{t.model, model}});
    for (const auto& task : of_model.distinct(t.task))
      chart.series.push_back(curve(task, of_model.where({{t.task, task}}), {t.layer, t.relative_position}));
    page.panels.push_back({model, chart});
  }
}

void add_shares(const TableView& all, figure::Figure& page) {
  const auto& t = schema::tasks_by_layer;
  struct Part {
    const char *title, *quantity, *set, *axis;
  };
  for (const Part& part :
       {Part{"Place, all tasks", "relative_position", "all", "Epsilon squared"},
        Part{"Place, tasks of like length", "relative_position", "alike", "Epsilon squared"},
        Part{"Type, all tasks", "token_type", "all", "Cramer's V"},
        Part{"Type, tasks of like length", "token_type", "alike", "Cramer's V"}}) {
    figure::LineChart chart{"Layer", part.axis, {}, {}, {}, {}, {}};
    for (const auto& model : all.distinct(t.model)) {
      const auto rows = all.where({{t.model, model}, {t.set, part.set}, {t.quantity, part.quantity}});
      if (!has_number(rows.numbers(t.value))) continue;
      chart.references.push_back(
          reference("95% of permutations", rows, {t.layer, t.null}, chart.series.size()));
      chart.series.push_back(curve(model, rows, {t.layer, t.value}));
    }
    if (!chart.series.empty()) page.panels.push_back({part.title, chart});
  }
}

std::string places_title(const TableView& all) {
  const auto& t = schema::tasks_by_layer;
  std::vector<PartCount> counts;
  for (const auto& model : all.distinct(t.model)) {
    const auto rows = all.where({{t.model, model}, {t.set, "all"}, {t.quantity, "relative_position"}});
    if (rows.empty() || !rows.has(t.fewest)) continue;
    PartCount count{model};
    for (const double p : rows.numbers(t.p_holm)) ++count.parts, count.above += p < 0.05;
    count.samples = rows.number(t.fewest);
    counts.push_back(count);
  }
  return title_of_parts({"The task tells where the anchor stands", "Where anchors stand, task by task"},
                        counts);
}

}  // namespace

Section tasks_section(std::span<const Table> tables) {
  const auto& t = schema::tasks_by_layer;
  Section section = empty_section(schema::kTasks, "Does the task decide where anchors stand?");
  const auto all = find_table(tables, t);
  figure::Figure page;
  page.columns = 3;
  page.letters = true;
  add_places(tables, page);
  add_shares(all, page);
  if (!page.panels.empty()) {
    page.title = places_title(all);
    page.caption = counted(all.where({{t.set, "all"}}), {t.model, t.samples});
    section.figures.push_back(
        {"tasks_by_layer",
         "Relative position of the anchor (0 first token, 1 last) by layer and task, heads averaged, in the "
         "final row (where none was traced, the last step), mean over samples, and how much of its place and "
         "type the task tells. Bands: bootstrap "
         "intervals over samples. Dotted: what 95% of "
         "permutations of the task labels stay below.",
         page});
  }
  const auto& r = schema::tasks_traces;
  const auto traces = find_table(tables, r);
  for (const auto& model : traces.distinct(r.model)) {
    const auto rows = all.where({{t.model, model}});
    if (rows.empty()) {
      const auto tasks = traces.where({{r.model, model}, {r.same_as, ""}}).size();
      section.readings.push_back(fmt::format("{}: {} data set{}; tasks are compared from three on.", model,
                                             tasks, tasks == 1 ? "" : "s"));
      continue;
    }
    const auto told = [&](const char* set, const char* quantity) {
      size_t layers = 0;
      const auto p = rows.where({{t.set, set}, {t.quantity, quantity}}).numbers(t.p_holm);
      for (const double value : p) layers += value < 0.05;
      return fmt::format("{} of {}", layers, p.size());
    };
    std::string reading = fmt::format(
        "{}: over {} tasks the anchor's relative position differs in {} layers, its type in {} (p below 0.05 "
        "for all layers together)",
        model, rows.number(t.tasks), told("all", "relative_position"), told("all", "token_type"));
    if (!rows.where({{t.set, "alike"}}).empty()) {
      reading += fmt::format("; between tasks of like length in {} and {}",
                             told("alike", "relative_position"), told("alike", "token_type"));
    }
    section.readings.push_back(reading + ".");
  }
  return section;
}

}  // namespace buoy::report
