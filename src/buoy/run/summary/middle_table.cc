#include <map>

#include "buoy/result/schema/evaluation.h"
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
  const auto& t = schema::eval_middle;
  Table table(t);
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
      table.add({{t.model, model.name},
                 {t.kind, kind_name(model.masked_diffusion)},
                 {t.set, set},
                 {t.positions, static_cast<std::int64_t>(places.size())},
                 {t.items, static_cast<std::int64_t>(both.a.size())},
                 {t.ends, mean_of(both.a)},
                 {t.middle, mean_of(both.b)},
                 {t.drop, estimate_cells(stats::difference_estimate({both.a, both.b}, options))}});
    }
  }
  return table;
}

}  // namespace buoy::run
