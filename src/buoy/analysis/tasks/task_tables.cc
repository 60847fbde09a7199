#include "buoy/analysis/tasks/task_tables.h"

#include <algorithm>
#include <array>

#include "buoy/analysis/core/interval_cells.h"
#include "buoy/analysis/tasks/task_layout.h"
#include "buoy/analysis/tasks/task_share.h"
#include "buoy/result/schema/tasks.h"
#include "buoy/stats/holm.h"

namespace buoy::analysis {
namespace {

constexpr std::array<std::string_view, 3> kQuantities = {"relative_position", "position", "token_type"};

const TaskAnchor& anchor_at(const TaskTrace& trace, const TaskSample& sample, std::int32_t layer) {
  const auto at = std::find(trace.layers.begin(), trace.layers.end(), layer) - trace.layers.begin();
  return sample.anchors[static_cast<size_t>(at)];
}

using TaskSet = std::vector<const TaskTrace*>;

// The samples of several tasks of a model in one row, and their anchors in one layer.
struct Pooled {
  explicit Pooled(TaskSet set) : tasks(std::move(set)) {
    labels.tasks = static_cast<std::int32_t>(tasks.size());
    for (size_t t = 0; t < tasks.size(); ++t) {
      for (const auto& sample : tasks[t]->samples) {
        labels.task.push_back(static_cast<std::int32_t>(t));
        labels.ids.push_back(tasks[t]->label + "/" + sample.id);
        samples.push_back(&sample);
      }
    }
  }

  // In the order of kQuantities.
  std::array<TaskQuantity, 3> quantities(std::int32_t layer) const {
    TaskQuantity relative, position, type{{}, true};
    bool typed = true;
    for (size_t i = 0; i < samples.size(); ++i) {
      const auto& anchor = anchor_at(*tasks[static_cast<size_t>(labels.task[i])], *samples[i], layer);
      relative.values.push_back(samples[i]->relative(anchor.position));
      position.values.push_back(static_cast<double>(anchor.position));
      type.values.push_back(static_cast<double>(anchor.type));
      typed &= anchor.type != TokenType::kUnknown;
    }
    if (!typed) type.values.clear();
    return {relative, position, type};
  }

  std::int64_t fewest_samples() const {
    size_t fewest = samples.size();
    for (const auto* task : tasks) fewest = std::min(fewest, task->samples.size());
    return static_cast<std::int64_t>(fewest);
  }

  TaskSet tasks;
  TaskLabels labels;
  std::vector<const TaskSample*> samples;
};

void add_set(Table& table, const TaskGroup& group, const std::string& name, const Pooled& pooled,
             const stats::BootstrapOptions& options) {
  const auto& t = schema::tasks_by_layer;
  std::vector<TaskQuantity> quantities;  // [layer, quantity]
  for (const auto layer : group.layers) {
    for (auto& quantity : pooled.quantities(layer)) quantities.push_back(std::move(quantity));
  }
  const auto tests = test_tasks(quantities, pooled.labels, options);
  const TaskLayout layout = task_layout(pooled.samples, pooled.labels);
  const std::array layouts = {layout.relative_position, layout.position, layout.token_type};
  for (size_t q = 0; q < kQuantities.size(); ++q) {
    std::vector<double> p;
    for (size_t l = 0; l < group.layers.size(); ++l) p.push_back(tests[l * kQuantities.size() + q].p);
    const auto together = stats::holm(p);
    for (size_t l = 0; l < group.layers.size(); ++l) {
      const TaskTest& test = tests[l * kQuantities.size() + q];
      const auto& quantity = quantities[l * kQuantities.size() + q];
      const bool known = !quantity.values.empty();
      table.add({{t.model, group.model},
                 {t.kind, group.kind},
                 {t.set, name},
                 {t.layer, static_cast<std::int64_t>(group.layers[l])},
                 {t.quantity, std::string(kQuantities[q])},
                 {t.measure, quantity.classes ? "Cramer's V" : "epsilon squared"},
                 {t.value, IntervalCells{test.share.corrected, test.lower, test.upper}},
                 {t.raw, number_cell(test.share.raw)},
                 {t.null, number_cell(test.null)},
                 {t.p, number_cell(test.p)},
                 {t.p_holm, number_cell(together[l])},
                 {t.layout, known ? number_cell(layouts[q]) : Cell()},
                 {t.distinct, known ? Cell(quantity.distinct()) : Cell()},
                 {t.tasks, static_cast<std::int64_t>(pooled.tasks.size())},
                 {t.samples, static_cast<std::int64_t>(pooled.samples.size())},
                 {t.fewest, pooled.fewest_samples()}});
    }
  }
}

Table by_layer(std::span<const TaskGroup> groups, const stats::BootstrapOptions& options) {
  Table table(schema::tasks_by_layer);
  for (const auto& group : groups) {
    if (!group.comparable()) continue;
    add_set(table, group, "all", Pooled(group.tasks), options);
    if (const auto alike = group.alike(); !alike.empty())
      add_set(table, group, "alike", Pooled(alike), options);
  }
  return table;
}

// The commonest type among anchors of a layer.
struct Commonest {
  TokenType type = TokenType::kUnknown;
  double share = 0;
};

Commonest commonest(const TaskTrace& task, std::int32_t layer) {
  std::array<double, kTokenTypes.size()> shares{};
  for (const auto& sample : task.samples)
    shares[static_cast<size_t>(anchor_at(task, sample, layer).type)] +=
        1.0 / static_cast<double>(task.samples.size());
  const auto largest = std::max_element(shares.begin(), shares.end());
  return {kTokenTypes[static_cast<size_t>(largest - shares.begin())], *largest};
}

Table by_task(std::span<const TaskGroup> groups, const stats::BootstrapOptions& options) {
  const auto& t = schema::tasks_by_task;
  Table table(t);
  for (const auto& group : groups) {
    for (const auto* task : group.tasks) {
      const auto layers = static_cast<std::int64_t>(group.layers.size());
      stats::StreamedBootstrap relative(layers, options);
      std::vector<double> position(group.layers.size(), 0.0);
      for (const auto& sample : task->samples) {
        std::vector<double> values;
        for (size_t l = 0; l < group.layers.size(); ++l) {
          const auto at = anchor_at(*task, sample, group.layers[l]).position;
          values.push_back(sample.relative(at));
          position[l] += static_cast<double>(at) / static_cast<double>(task->samples.size());
        }
        relative.add(sample.id, values);
      }
      for (size_t l = 0; l < group.layers.size(); ++l) {
        const stats::Estimate i = relative.interval(static_cast<std::int64_t>(l));
        const Commonest most = commonest(*task, group.layers[l]);
        table.add({{t.model, group.model},
                   {t.kind, group.kind},
                   {t.task, task->label},
                   {t.layer, static_cast<std::int64_t>(group.layers[l])},
                   {t.relative_position, interval_cells(i)},
                   {t.deviation, number_cell(i.deviation)},
                   {t.position, number_cell(position[l])},
                   {t.type, std::string(name_of(most.type))},
                   {t.type_share, most.share},
                   {t.samples, i.samples}});
      }
    }
  }
  return table;
}

Table which_traces(std::span<const TaskGroup> groups) {
  const auto& t = schema::tasks_traces;
  Table table(t);
  for (const auto& group : groups) {
    const auto add = [&](const TaskTrace& trace, const std::string& same_as) {
      const auto alike = group.alike();
      const bool in = std::find(alike.begin(), alike.end(), &trace) != alike.end();
      table.add({{t.model, group.model},
                 {t.kind, group.kind},
                 {t.trace, trace.label},
                 {t.same_as, same_as},
                 {t.samples, static_cast<std::int64_t>(trace.samples.size())},
                 {t.tokens, number_cell(mean_tokens(trace))},
                 {t.alike, std::int64_t{in}}});
    };
    for (const auto* task : group.tasks) add(*task, "");
    for (const auto& repeat : group.repeats) add(*repeat.trace, repeat.same_as);
  }
  return table;
}

}  // namespace

Table anchors_table(const TaskTrace& trace) {
  const auto& t = schema::tasks_anchors;
  Table table(t);
  for (const auto& sample : trace.samples) {
    for (size_t l = 0; l < sample.anchors.size(); ++l) {
      const TaskAnchor& anchor = sample.anchors[l];
      table.add({{t.sample, sample.id},
                 {t.layer, static_cast<std::int64_t>(trace.layers[l])},
                 {t.position, anchor.position},
                 {t.tokens, sample.tokens},
                 {t.relative_position, sample.relative(anchor.position)},
                 {t.lift, number_cell(anchor.lift)},
                 {t.type, std::string(name_of(anchor.type))},
                 {t.token, anchor.token}});
    }
  }
  return table;
}

std::vector<Table> task_tables(std::span<const TaskGroup> groups, const stats::BootstrapOptions& options) {
  return {by_layer(groups, options), by_task(groups, options), which_traces(groups)};
}

}  // namespace buoy::analysis
