#include "buoy/analysis/retrieval/head_agreement.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "buoy/result/schema/retrieval.h"
#include "buoy/stats/rank_correlation.h"

namespace buoy::analysis {
namespace {

using HeadScores = std::map<std::pair<double, double>, double>;  // (layer, head): score

bool same_heads(const HeadScores& a, const HeadScores& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](const auto& x, const auto& y) { return x.first == y.first; });
}

std::vector<double> values_of(const HeadScores& scores) {
  std::vector<double> out;
  for (const auto& [head, score] : scores) out.push_back(score);
  return out;
}

// Equal scores are taken from the first head on, so that the answer does not depend on the sort.
std::set<size_t> strongest(const std::vector<double>& scores, size_t count) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  return {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

Table head_agreement(const Table& by_head, std::span<const Interval* const> scores, double share) {
  const auto& t = schema::retrieval_agreement;
  Table table(t);
  const size_t trace = by_head.column(schema::trace), layer = by_head.column(schema::retrieval_by_head.layer),
               head = by_head.column(schema::retrieval_by_head.head);
  for (const auto* score : scores) {
    const size_t value = by_head.column(*score);
    std::vector<std::string> labels;
    std::map<std::string, HeadScores> traces;
    for (const auto& row : by_head.rows) {
      const std::string label = text_of(row[trace]);
      if (!traces.contains(label)) labels.push_back(label);
      traces[label][{number_of(row[layer]), number_of(row[head])}] = number_of(row[value]);
    }
    for (size_t i = 0; i < labels.size(); ++i) {
      for (size_t j = i + 1; j < labels.size(); ++j) {
        const auto &a = traces[labels[i]], &b = traces[labels[j]];
        if (!same_heads(a, b)) {
          table.add({{t.score, std::string(score->name())},
                     {t.first, labels[i]},
                     {t.second, labels[j]},
                     {t.heads, std::int64_t{0}},
                     {t.pearson, {}},
                     {t.spearman, {}},
                     {t.top_heads, {}},
                     {t.top_shared, {}},
                     {t.top_chance, {}}});
          continue;
        }
        const auto x = values_of(a), y = values_of(b);
        const auto heads = static_cast<double>(x.size());
        const auto top = static_cast<size_t>(std::max(1.0, std::round(share * heads)));
        const auto top_x = strongest(x, top), top_y = strongest(y, top);
        const auto shared =
            std::count_if(top_x.begin(), top_x.end(), [&](size_t h) { return top_y.contains(h); });
        table.add({{t.score, std::string(score->name())},
                   {t.first, labels[i]},
                   {t.second, labels[j]},
                   {t.heads, static_cast<std::int64_t>(x.size())},
                   {t.pearson, number_cell(stats::pearson(x, y))},
                   {t.spearman, number_cell(stats::spearman(x, y))},
                   {t.top_heads, static_cast<std::int64_t>(top)},
                   {t.top_shared, static_cast<double>(shared) / static_cast<double>(top)},
                   {t.top_chance, static_cast<double>(top) / heads}});
      }
    }
  }
  return table;
}

}  // namespace buoy::analysis
