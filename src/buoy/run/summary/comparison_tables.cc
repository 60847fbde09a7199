#include "buoy/result/schema/evaluation.h"
#include "buoy/run/summary/summary_tables.h"
#include "buoy/stats/share.h"

namespace buoy::run {

Table differences_table(const ScoreBook& book, const Bootstrap& options) {
  const auto& t = schema::eval_differences;
  Table table(t);
  for (std::size_t i = 0; i < book.models.size(); ++i) {
    for (std::size_t j = i + 1; j < book.models.size(); ++j) {
      for (const auto& set : book.sets) {
        for (const auto& condition : book.conditions) {
          const auto* a = book.find(book.models[i].name, set, condition.name);
          const auto* b = book.find(book.models[j].name, set, condition.name);
          if (a == nullptr || b == nullptr) continue;
          for (const auto& metric : metrics()) {
            const auto both = paired(*a, *b, metric);
            if (both.a.empty()) continue;
            table.add(
                {{t.a, a->model},
                 {t.b, b->model},
                 {t.set, set},
                 {t.condition, condition.name},
                 {t.metric, std::string(metric.name)},
                 {t.items, static_cast<std::int64_t>(both.a.size())},
                 {t.difference, estimate_cells(stats::difference_estimate({both.a, both.b}, options))}});
          }
        }
      }
    }
  }
  return table;
}

Table effects_table(const ScoreBook& book, const Bootstrap& options) {
  const auto& t = schema::eval_effects;
  Table table(t);
  for (const auto& model : book.models) {
    for (const auto& set : book.sets) {
      const ConditionFacts* first = nullptr;
      for (const auto& condition : book.conditions) {
        if (condition.axis.empty()) continue;
        if (first == nullptr) {
          first = &condition;
          continue;
        }
        const auto* a = book.find(model.name, set, condition.name);
        const auto* b = book.find(model.name, set, first->name);
        if (a == nullptr || b == nullptr) continue;
        for (const auto& metric : metrics()) {
          const auto both = paired(*a, *b, metric);
          if (both.a.empty()) continue;
          table.add({{t.model, model.name},
                     {t.set, set},
                     {t.axis, condition.axis},
                     {t.value, condition.value},
                     {t.first, first->value},
                     {t.metric, std::string(metric.name)},
                     {t.items, static_cast<std::int64_t>(both.a.size())},
                     {t.difference, estimate_cells(stats::difference_estimate({both.a, both.b}, options))}});
        }
      }
    }
  }
  return table;
}

}  // namespace buoy::run
