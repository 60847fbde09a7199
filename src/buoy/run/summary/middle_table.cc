#include <map>

#include "buoy/run/summary/summary_tables.h"
#include "buoy/stats/share.h"

namespace buoy::run {
namespace {

constexpr std::size_t kFewestPlaces = 5;

// Of every item that was answered at all places: its mean at the two ends and in the middle third.
PairedColumns ends_and_middle(const std::vector<const CellScores*>& places) {
  std::map<std::string, std::vector<double>> by_id;
  for (const auto* place : places) {
    for (const auto& answer : place->answers) by_id[answer.id].push_back(answer.scores.exact_match);
  }
  const std::size_t n = places.size(), from = n / 3, to = n - n / 3;
  PairedColumns out;
  for (const auto& [id, scores] : by_id) {
    if (scores.size() != n) continue;
    double middle = 0;
    for (std::size_t i = from; i < to; ++i) middle += scores[i] / static_cast<double>(to - from);
    out.a.push_back((scores.front() + scores.back()) / 2);
    out.b.push_back(middle);
  }
  return out;
}

}  // namespace

Table middle_table(const ScoreBook& book, const Bootstrap& options) {
  Table table{"eval_middle",
              "Lost in the middle: exact match by the place of the gold passage, item by item",
              {{"model", "name of the model"},
               {"kind", "masked diffusion or autoregressive"},
               {"set", "data set"},
               {"positions", "places of the sweep, one condition each"},
               {"items", "answered at all places"},
               {"ends", "exact match with the gold passage first or last"},
               {"middle", "with it in the middle third"},
               {"drop", "ends minus middle"},
               {"lower", "lower end of its interval: Newcombe's for shares, else items resampled"},
               {"upper", "upper end"}},
              {}};
  for (const auto& model : book.models) {
    for (const auto& set : book.sets) {
      std::vector<const CellScores*> places;
      for (const auto& condition : book.conditions) {
        if (condition.axis != "gold-position") continue;
        if (const auto* cell = book.find(model.name, set, condition.name)) places.push_back(cell);
      }
      if (places.size() < kFewestPlaces) continue;
      const auto both = ends_and_middle(places);
      if (both.a.empty()) continue;
      std::vector<Cell> row = {model.name,
                               kind_name(model.masked_diffusion),
                               set,
                               static_cast<std::int64_t>(places.size()),
                               static_cast<std::int64_t>(both.a.size()),
                               mean_of(both.a),
                               mean_of(both.b)};
      add_estimate(row, stats::difference_estimate({both.a, both.b}, options));
      table.add(std::move(row));
    }
  }
  return table;
}

}  // namespace buoy::run
