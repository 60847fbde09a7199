#include "buoy/stats/rank_correlation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "buoy/base/error.h"
#include "buoy/stats/not_a_number.h"

namespace buoy::stats {
namespace {

constexpr size_t kFewest = 3;

struct Products {
  double xx = 0, yy = 0, xy = 0;
};

// Centred sums; of series that vary.
Products products(std::span<const double> x, std::span<const double> y) {
  const auto n = static_cast<double>(x.size());
  const double mx = std::accumulate(x.begin(), x.end(), 0.0) / n;
  const double my = std::accumulate(y.begin(), y.end(), 0.0) / n;
  Products p;
  for (size_t i = 0; i < x.size(); ++i) {
    p.xx += (x[i] - mx) * (x[i] - mx);
    p.yy += (y[i] - my) * (y[i] - my);
    p.xy += (x[i] - mx) * (y[i] - my);
  }
  return p;
}

bool varies(std::span<const double> values) {
  return std::any_of(values.begin(), values.end(), [&](double v) { return v != values[0]; });
}

// The entries at which every series has a number.
std::vector<std::vector<double>> complete(std::initializer_list<std::span<const double>> series) {
  std::vector<std::vector<double>> out(series.size());
  const size_t length = series.begin()->size();
  for (const auto& s : series) BUOY_CHECK(s.size() == length);
  for (size_t i = 0; i < length; ++i) {
    if (std::any_of(series.begin(), series.end(), [&](const auto& s) { return std::isnan(s[i]); })) continue;
    size_t k = 0;
    for (const auto& s : series) out[k++].push_back(s[i]);
  }
  return out;
}

double correlation(std::span<const double> x, std::span<const double> y) {
  if (x.size() < kFewest || !varies(x) || !varies(y)) return kNan;
  const Products p = products(x, y);
  return std::clamp(p.xy / std::sqrt(p.xx * p.yy), -1.0, 1.0);
}

}  // namespace

std::vector<double> ranks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> rank(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) rank[order[i]] = static_cast<double>(begin + end + 1) / 2;
    begin = end;
  }
  return rank;
}

double pearson(std::span<const double> x, std::span<const double> y) {
  const auto pairs = complete({x, y});
  return correlation(pairs[0], pairs[1]);
}

double spearman(std::span<const double> x, std::span<const double> y) {
  const auto pairs = complete({x, y});
  return correlation(ranks(pairs[0]), ranks(pairs[1]));
}

double partial_spearman(std::span<const double> x, std::span<const double> y, std::span<const double> z) {
  const auto all = complete({x, y, z});
  const auto a = ranks(all[0]), b = ranks(all[1]), c = ranks(all[2]);
  const double xy = correlation(a, b), xz = correlation(a, c), yz = correlation(b, c);
  const double left = (1 - xz * xz) * (1 - yz * yz);
  constexpr double kRounding = 1e-9;
  return left > kRounding ? std::clamp((xy - xz * yz) / std::sqrt(left), -1.0, 1.0) : kNan;
}

double slope(std::span<const double> x, std::span<const double> y) {
  const auto pairs = complete({x, y});
  if (pairs[0].empty() || !varies(pairs[0])) return kNan;
  const Products p = products(pairs[0], pairs[1]);
  return p.xy / p.xx;
}

}  // namespace buoy::stats
