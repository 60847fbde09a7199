#include "buoy/analysis/tasks/task_tables.h"

#include <algorithm>
#include <array>

#include "buoy/analysis/tasks/task_layout.h"
#include "buoy/analysis/tasks/task_share.h"

namespace buoy::analysis {
namespace {

constexpr std::array<std::string_view, 3> kQuantities = {"relative_position", "position", "token_type"};
const std::string kModelMeaning = "model: traces with the same config and weights";
const std::string kKindMeaning = "masked diffusion or autoregressive";
const std::string kRelativeMeaning = "position / last position of the row, prompt and answer: 0 to 1";
const std::string kTypeMeaning =
    "mask, special, template, white_space, punctuation, digit, content; unknown without texts of tokens";

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
    const auto together = holm(p);
    for (size_t l = 0; l < group.layers.size(); ++l) {
      const TaskTest& test = tests[l * kQuantities.size() + q];
      const auto& quantity = quantities[l * kQuantities.size() + q];
      const bool known = !quantity.values.empty();
      table.add({group.model, group.kind, name, static_cast<std::int64_t>(group.layers[l]),
                 std::string(kQuantities[q]), quantity.classes ? "Cramer's V" : "epsilon squared",
                 number_cell(test.share.corrected), number_cell(test.lower), number_cell(test.upper),
                 number_cell(test.share.raw), number_cell(test.null), number_cell(test.p),
                 number_cell(together[l]), known ? number_cell(layouts[q]) : Cell(),
                 known ? Cell(quantity.distinct()) : Cell(), static_cast<std::int64_t>(pooled.tasks.size()),
                 static_cast<std::int64_t>(pooled.samples.size()), pooled.fewest_samples()});
    }
  }
}

Table by_layer(std::span<const TaskGroup> groups, const stats::BootstrapOptions& options) {
  Table table{
      "tasks_by_layer",
      "Do anchors depend on the task (claim C3)? What the task tells of the anchor's place and type, by "
      "layer (calibrated; the paper has no estimator)",
      {{"model", kModelMeaning},
       {"kind", kKindMeaning},
       {"set",
        "all: every task; alike: the most tasks with rows of like length (means within a tenth), where the "
        "length of prompts explains nothing"},
       {"layer", "layer of the model"},
       {"quantity", "of the anchor: relative_position (" + kRelativeMeaning +
                        "), position (in tokens: shows what the length of prompts alone does), token_type"},
       {"measure",
        "epsilon squared: share of the variance between tasks, bias-corrected; Cramer's V: bias-corrected"},
       {"value", "the corrected measure; nothing when all anchors are the same (distinct is 1)"},
       {"lower", "bootstrap interval over samples"},
       {"upper", "bootstrap interval over samples"},
       {"raw", "without correction: eta squared, Cramer's V"},
       {"null", "95% of the permutations of task labels over samples stay below this corrected value"},
       {"p", "share of permutations that give as much or more"},
       {"p_holm", "the same for all layers of the quantity together (Holm)"},
       {"layout", "raw measure of anchors drawn evenly over each row: what prompts give without a model"},
       {"distinct", "different values among all samples; 1: the same in all tasks"},
       {"tasks", "data sets"},
       {"samples", "of all tasks"},
       {"fewest", "samples of the smallest task"}},
      {}};
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
  Table table{"tasks_by_task",
              "Where the anchors of each task stand, by layer",
              {{"model", kModelMeaning},
               {"kind", kKindMeaning},
               {"task", "trace of the data set"},
               {"layer", "layer of the model"},
               {"relative_position", "mean over samples of " + kRelativeMeaning},
               {"lower", "bootstrap interval over samples"},
               {"upper", "bootstrap interval over samples"},
               {"deviation", "population standard deviation over samples"},
               {"position", "mean over samples, in tokens"},
               {"type", "commonest type of the anchor: " + kTypeMeaning},
               {"type_share", "share of samples with that type"},
               {"samples", "samples"}},
              {}};
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
        table.add({group.model, group.kind, task->label, static_cast<std::int64_t>(group.layers[l]),
                   number_cell(i.value), number_cell(i.lower), number_cell(i.upper), number_cell(i.deviation),
                   number_cell(position[l]), std::string(name_of(most.type)), most.share, i.samples});
      }
    }
  }
  return table;
}

Table which_traces(std::span<const TaskGroup> groups) {
  Table table{"tasks_traces",
              "Which traces are tasks of which model",
              {{"model", kModelMeaning},
               {"kind", kKindMeaning},
               {"trace", "label of the trace"},
               {"same_as", "the task whose questions it asks again, and then it is not taken; empty: a task"},
               {"samples", "samples"},
               {"tokens", "length of the row, mean over samples"},
               {"alike", "1: among the tasks with rows of like length"}},
              {}};
  for (const auto& group : groups) {
    const auto add = [&](const TaskTrace& trace, const std::string& same_as) {
      const auto alike = group.alike();
      const bool in = std::find(alike.begin(), alike.end(), &trace) != alike.end();
      table.add({group.model, group.kind, trace.label, same_as,
                 static_cast<std::int64_t>(trace.samples.size()), number_cell(mean_tokens(trace)),
                 std::int64_t{in}});
    };
    for (const auto* task : group.tasks) add(*task, "");
    for (const auto& repeat : group.repeats) add(*repeat.trace, repeat.same_as);
  }
  return table;
}

}  // namespace

Table anchors_table(const TaskTrace& trace) {
  Table table{"tasks_anchors",
              "The anchor of every sample and layer: the position with the largest lift over uniform "
              "attention, heads averaged, in the forward over the final row (or else the last step)",
              {{"sample", "id"},
               {"layer", "layer of the model"},
               {"position", "of the anchor, in tokens from 0"},
               {"tokens", "length of the row"},
               {"relative_position", kRelativeMeaning},
               {"lift", "received / max(1/T, what uniform attention with the same mask gives it)"},
               {"type", kTypeMeaning},
               {"token", "its text"}},
              {}};
  for (const auto& sample : trace.samples) {
    for (size_t l = 0; l < sample.anchors.size(); ++l) {
      const TaskAnchor& anchor = sample.anchors[l];
      table.add({sample.id, static_cast<std::int64_t>(trace.layers[l]), anchor.position, sample.tokens,
                 sample.relative(anchor.position), number_cell(anchor.lift),
                 std::string(name_of(anchor.type)), anchor.token});
    }
  }
  return table;
}

std::vector<Table> task_tables(std::span<const TaskGroup> groups, const stats::BootstrapOptions& options) {
  return {by_layer(groups, options), by_task(groups, options), which_traces(groups)};
}

}  // namespace buoy::analysis
