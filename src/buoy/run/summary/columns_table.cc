#include "buoy/run/summary/summary_tables.h"
#include "buoy/stats/share.h"

namespace buoy::run {

Table columns_table(const ScoreBook& book, const Bootstrap& options) {
  Table table{"eval_columns",
              "Columns of attention hidden: floating ones against as many others, on the same items",
              {{"model", "name of the model"},
               {"kind", "masked diffusion or autoregressive"},
               {"set", "data set"},
               {"third", "layers in which they were hidden: shallow, middle or deep third"},
               {"against", "what floating columns are held against: random or structural ones"},
               {"items", "answered under both conditions"},
               {"seen", "exact match with nothing hidden"},
               {"floating", "with floating columns hidden"},
               {"others", "with as many of the others hidden"},
               {"difference", "floating minus others"},
               {"lower", "lower end of its interval: Newcombe's for shares, else items resampled"},
               {"upper", "upper end"}},
              {}};
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
          std::vector<Cell> row = {model.name,
                                   kind_name(model.masked_diffusion),
                                   set,
                                   std::string(third),
                                   std::string(against),
                                   static_cast<std::int64_t>(both.a.size()),
                                   mean_of(seen->column(metric)),
                                   mean_of(both.a),
                                   mean_of(both.b)};
          add_estimate(row, stats::difference_estimate({both.a, both.b}, options));
          table.add(std::move(row));
        }
      }
    }
  }
  return table;
}

}  // namespace buoy::run
