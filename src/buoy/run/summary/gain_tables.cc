#include <fmt/format.h>

#include <map>
#include <span>

#include "buoy/result/schema/evaluation.h"
#include "buoy/run/summary/summary_tables.h"
#include "buoy/stats/gains.h"

namespace buoy::run {
namespace {

const ConditionFacts* closed_book(const ScoreBook& book) {
  for (const auto& condition : book.conditions) {
    if (condition.closed_book) return &condition;
  }
  return nullptr;
}

// With and without passages, item by item, of one model on one set or, one after the other, on all.
PairedColumns columns_of(const ScoreBook& book, const std::string& model, const std::string& set,
                         const std::string& condition, const std::string& baseline, const Metric& metric) {
  PairedColumns out;
  for (const auto& name : book.sets) {
    if (set != kAllSets && set != name) continue;
    const auto* with = book.find(model, name, condition);
    const auto* without = book.find(model, name, baseline);
    if (with == nullptr || without == nullptr) continue;
    const auto both = paired(*with, *without, metric);
    for (const auto& id : both.ids) out.ids.push_back(name + '\n' + id);  // ids are unique in a set only
    out.a.insert(out.a.end(), both.a.begin(), both.a.end());
    out.b.insert(out.b.end(), both.b.begin(), both.b.end());
  }
  return out;
}

std::vector<std::string> sets_and_all(const ScoreBook& book) {
  auto sets = book.sets;
  if (sets.size() > 1) sets.emplace_back(kAllSets);
  return sets;
}

// Leaves the items that all models answered under both conditions: a ratio compares the same ones.
void keep_common(std::span<std::vector<PairedColumns>> kinds) {
  std::map<std::string, std::size_t> answered;
  std::size_t models = 0;
  for (const auto& kind : kinds) {
    models += kind.size();
    for (const auto& one : kind) {
      for (const auto& id : one.ids) ++answered[id];
    }
  }
  for (auto& kind : kinds) {
    for (auto& one : kind) {
      PairedColumns common;
      for (std::size_t i = 0; i < one.ids.size(); ++i) {
        if (answered[one.ids[i]] < models) continue;
        common.ids.push_back(one.ids[i]);
        common.a.push_back(one.a[i]);
        common.b.push_back(one.b[i]);
      }
      one = std::move(common);
    }
  }
}

}  // namespace

Table gains_table(const ScoreBook& book, const Bootstrap& options) {
  const auto& t = schema::eval_gains;
  Table table(t);
  const auto* baseline = closed_book(book);
  if (baseline == nullptr) return table;
  for (const auto& model : book.models) {
    for (const auto& set : sets_and_all(book)) {
      for (const auto& condition : book.conditions) {
        if (condition.closed_book) continue;
        for (const auto& metric : metrics()) {
          const auto both = columns_of(book, model.name, set, condition.name, baseline->name, metric);
          if (both.a.empty()) continue;
          table.add({{t.model, model.name},
                     {t.kind, kind_name(model.masked_diffusion)},
                     {t.set, set},
                     {t.condition, condition.name},
                     {t.metric, std::string(metric.name)},
                     {t.items, static_cast<std::int64_t>(both.a.size())},
                     {t.with, mean_of(both.a)},
                     {t.without, mean_of(both.b)},
                     {t.gain, estimate_cells(stats::rag_gain(stats::ModelScores{both.a, both.b}, options))}});
        }
      }
    }
  }
  return table;
}

Table gain_ratio_table(const ScoreBook& book, const Bootstrap& options) {
  const auto& t = schema::eval_gain_ratio;
  Table table(t);
  const auto* baseline = closed_book(book);
  if (baseline == nullptr) return table;
  for (const auto& set : sets_and_all(book)) {
    for (const auto& condition : book.conditions) {
      if (condition.closed_book) continue;
      for (const auto& metric : metrics()) {
        std::vector<PairedColumns> columns[2];
        for (const auto& model : book.models) {
          auto both = columns_of(book, model.name, set, condition.name, baseline->name, metric);
          if (!both.a.empty()) columns[model.masked_diffusion ? 0 : 1].push_back(std::move(both));
        }
        if (columns[0].empty() || columns[1].empty()) continue;
        keep_common(columns);
        if (columns[0][0].a.empty()) continue;
        std::vector<stats::ModelScores> scores[2];
        for (int kind = 0; kind < 2; ++kind) {
          for (const auto& one : columns[kind]) scores[kind].push_back({one.a, one.b});
        }
        double room = 0;
        for (const auto& one : columns[0])
          room += (1 - mean_of(one.b)) / static_cast<double>(columns[0].size());
        const bool has_ceiling = metric.column != &schema::overview.words;
        const auto ratio = stats::gain_ratio(scores[0], scores[1], options);
        table.add({{t.set, set},
                   {t.condition, condition.name},
                   {t.metric, std::string(metric.name)},
                   {t.items, static_cast<std::int64_t>(columns[0][0].a.size())},
                   {t.diffusion_gain, estimate_cells(ratio.numerator)},
                   {t.autoregressive_gain, estimate_cells(ratio.denominator)},
                   {t.ratio, ratio.ratio ? estimate_cells(*ratio.ratio) : IntervalCells{}},
                   {t.room, has_ceiling ? Cell{room} : Cell{}}});
      }
    }
  }
  return table;
}

Table averages_table(const ScoreBook& book, const Bootstrap& options) {
  const auto& t = schema::eval_averages;
  Table table(t);
  if (book.sets.size() < 2) return table;
  for (const auto& model : book.models) {
    for (const auto& condition : book.conditions) {
      std::vector<const CellScores*> cells;
      for (const auto& set : book.sets) {
        const auto* cell = book.find(model.name, set, condition.name);
        if (cell != nullptr && !cell->answers.empty()) cells.push_back(cell);
      }
      if (cells.size() < 2) continue;
      std::vector<std::vector<double>> columns;  // substring and F1 of every set
      for (const auto* cell : cells) {
        columns.push_back(cell->column(metrics()[1]));
        columns.push_back(cell->column(metrics()[3]));
      }
      std::vector<stats::ScoreTable> tables;
      for (std::size_t i = 0; i < columns.size(); i += 2) tables.push_back({{columns[i], columns[i + 1]}});
      const auto average = stats::bootstrap(
          tables,
          [](std::span<const double> means) {
            return mean_of({means.begin(), means.end()});
          },
          options);
      const auto sets = static_cast<std::int64_t>(cells.size());
      table.add({{t.model, model.name},
                 {t.condition, condition.name},
                 {t.metric, std::string("cells")},
                 {t.sets, sets},
                 {t.mean, estimate_cells(average)}});
      for (const auto& metric : metrics()) {
        std::vector<double> all;
        for (const auto* cell : cells) {
          const auto column = cell->column(metric);
          all.insert(all.end(), column.begin(), column.end());
        }
        table.add({{t.model, model.name},
                   {t.condition, condition.name},
                   {t.metric, std::string(metric.name)},
                   {t.sets, sets},
                   {t.mean, estimate_cells(estimate_of(metric, all, options))}});
      }
    }
  }
  return table;
}

}  // namespace buoy::run
