#include <algorithm>
#include <charconv>
#include <functional>
#include <map>

#include "buoy/result/schema/evaluation.h"
#include "buoy/run/summary/summary_tables.h"
#include "buoy/stats/share.h"

namespace buoy::run {
namespace {

constexpr std::size_t kFewestPlaces = 5;

// Exact match of every item that was answered at all places, place by place.
struct ByPlace {
  std::vector<std::vector<double>> items;
  std::size_t places = 0;

  // A weighted mean over places, of each item; only places with a weight above 0 count.
  std::vector<double> mean(const std::function<double(std::size_t place)>& weight) const {
    double all = 0;
    for (std::size_t p = 0; p < places; ++p) all += std::max(0.0, weight(p));
    std::vector<double> out;
    for (const auto& scores : items) {
      double sum = 0;
      for (std::size_t p = 0; p < places; ++p) sum += std::max(0.0, weight(p)) * scores[p];
      out.push_back(sum / all);
    }
    return out;
  }
};

ByPlace by_place(const std::vector<const CellScores*>& places) {
  std::map<std::string, std::vector<double>> by_id;
  for (const auto* place : places) {
    for (const auto& answer : place->answers) by_id[answer.id].push_back(answer.scores.exact_match);
  }
  ByPlace out;
  out.places = places.size();
  for (auto& [id, scores] : by_id) {
    if (scores.size() == out.places) out.items.push_back(std::move(scores));
  }
  return out;
}

}  // namespace

Table middle_table(const ScoreBook& book, const Bootstrap& options) {
  const auto& t = schema::eval_middle;
  Table table(t);
  for (const auto& model : book.models) {
    for (const auto& set : book.sets) {
      std::map<std::int64_t, const CellScores*> by_number;  // a sweep may name them in any order
      for (const auto& condition : book.conditions) {
        if (condition.axis != "gold-position") continue;
        std::int64_t number = 0;
        const char* const end = condition.value.data() + condition.value.size();
        if (std::from_chars(condition.value.data(), end, number).ptr != end) continue;
        if (const auto* cell = book.find(model.name, set, condition.name)) by_number[number] = cell;
      }
      std::vector<const CellScores*> places;
      double centre = 0;
      for (const auto& [number, cell] : by_number) {
        places.push_back(cell);
        centre += static_cast<double>(number) / static_cast<double>(by_number.size());
      }
      if (places.size() < kFewestPlaces) continue;
      const auto scores = by_place(places);
      if (scores.items.empty()) continue;
      const std::size_t n = scores.places, from = n / 3, to = n - n / 3;
      const auto is = [](bool here) { return here ? 1.0 : 0.0; };
      const auto ends = scores.mean([&](auto p) { return is(p == 0 || p == n - 1); });
      const auto middle = scores.mean([&](auto p) { return is(p >= from && p < to); });
      const auto first = scores.mean([&](auto p) { return is(p == 0); });
      const auto last = scores.mean([&](auto p) { return is(p == n - 1); });
      // Ends minus middle is 0 for a bias towards one end, however strong; a straight line is not.
      const auto from_centre = [&](std::size_t p) {
        return static_cast<double>(std::next(by_number.begin(), static_cast<std::ptrdiff_t>(p))->first) -
               centre;
      };
      const auto late = scores.mean([&](auto p) { return from_centre(p); });
      const auto early = scores.mean([&](auto p) { return -from_centre(p); });
      const auto difference = [&](const std::vector<double>& a, const std::vector<double>& b) {
        return estimate_cells(stats::difference_estimate({a, b}, options));
      };
      table.add({{t.model, model.name},
                 {t.kind, kind_name(model.masked_diffusion)},
                 {t.set, set},
                 {t.positions, static_cast<std::int64_t>(places.size())},
                 {t.items, static_cast<std::int64_t>(scores.items.size())},
                 {t.ends, mean_of(ends)},
                 {t.middle, mean_of(middle)},
                 {t.drop, difference(ends, middle)},
                 {t.first, mean_of(first)},
                 {t.last, mean_of(last)},
                 {t.first_drop, difference(first, middle)},
                 {t.last_drop, difference(last, middle)},
                 {t.trend, difference(late, early)}});
    }
  }
  return table;
}

}  // namespace buoy::run
