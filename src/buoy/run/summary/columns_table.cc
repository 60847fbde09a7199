#include "buoy/result/schema/evaluation.h"
#include "buoy/run/summary/summary_tables.h"
#include "buoy/stats/share.h"

namespace buoy::run {

Table columns_table(const ScoreBook& book, const Bootstrap& options) {
  const auto& t = schema::eval_columns;
  Table table(t);
  const Metric& metric = metrics().front();
  const auto cell = [&](const ModelFacts& model, const std::string& set, const std::string& value) {
    return book.find(model.name, set, "hidden=" + value);
  };
  for (const auto& model : book.models) {
    for (const auto& set : book.sets) {
      for (const char* third : {"shallow", "middle", "deep"}) {
        for (const char* against : {"random", "structural"}) {
          const auto* seen = cell(model, set, "none");
          const auto* floating = cell(model, set, std::string("floating-") + third);
          const auto* others = cell(model, set, std::string(against) + "-" + third);
          if (seen == nullptr || floating == nullptr || others == nullptr) continue;
          const auto both = paired(*floating, *others, metric);
          if (both.a.empty()) continue;
          table.add({{t.model, model.name},
                     {t.kind, kind_name(model.masked_diffusion)},
                     {t.set, set},
                     {t.third, std::string(third)},
                     {t.against, std::string(against)},
                     {t.items, static_cast<std::int64_t>(both.a.size())},
                     {t.seen, mean_of(seen->column(metric))},
                     {t.floating, mean_of(both.a)},
                     {t.others, mean_of(both.b)},
                     {t.difference, estimate_cells(stats::difference_estimate({both.a, both.b}, options))}});
        }
      }
    }
  }
  return table;
}

}  // namespace buoy::run
