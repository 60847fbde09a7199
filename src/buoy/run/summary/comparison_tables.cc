#include "buoy/run/summary/summary_tables.h"
#include "buoy/stats/share.h"

namespace buoy::run {

Table differences_table(const ScoreBook& book, const Bootstrap& options) {
  Table table{"eval_differences",
              "Model against model on the same items",
              {{"a", "one model"},
               {"b", "the other"},
               {"set", "data set"},
               {"condition", "how both were asked"},
               {"metric", "see eval_scores"},
               {"items", "answered by both"},
               {"difference", "mean of a minus b"},
               {"lower", "lower end of its interval: Newcombe's for shares, else items resampled"},
               {"upper", "upper end"}},
              {}};
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
            std::vector<Cell> row = {a->model,
                                     b->model,
                                     set,
                                     condition.name,
                                     std::string(metric.name),
                                     static_cast<std::int64_t>(both.a.size())};
            add_estimate(row, stats::difference_estimate({both.a, both.b}, options));
            table.add(std::move(row));
          }
        }
      }
    }
  }
  return table;
}

Table effects_table(const ScoreBook& book, const Bootstrap& options) {
  Table table{"eval_effects",
              "Every value of a sweep against its first, on the same items",
              {{"model", "name of the model"},
               {"set", "data set"},
               {"axis", "what the sweep varies"},
               {"value", "value of the axis"},
               {"first", "value it is held against"},
               {"metric", "see eval_scores"},
               {"items", "answered under both"},
               {"difference", "mean of this value minus the first"},
               {"lower", "lower end of its interval: Newcombe's for shares, else items resampled"},
               {"upper", "upper end"}},
              {}};
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
          std::vector<Cell> row = {model.name,
                                   set,
                                   condition.axis,
                                   condition.value,
                                   first->value,
                                   std::string(metric.name),
                                   static_cast<std::int64_t>(both.a.size())};
          add_estimate(row, stats::difference_estimate({both.a, both.b}, options));
          table.add(std::move(row));
        }
      }
    }
  }
  return table;
}

}  // namespace buoy::run
