#include "buoy/analysis/qk/qk_columns.h"

#include <algorithm>
#include <cmath>

#include "buoy/analysis/core/extent.h"
#include "buoy/base/error.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

struct StageArrays {
  std::string_view dot, cosine, norm, self_dot;
};
constexpr std::array kArrays = {StageArrays{trace::kQkAfterDot, trace::kQkAfterCosine,
                                            trace::kQkAfterNormProduct, trace::kQkAfterSelfDot},
                                StageArrays{trace::kQkBeforeDot, trace::kQkBeforeCosine,
                                            trace::kQkBeforeNormProduct, trace::kQkBeforeSelfDot}};

constexpr double kSmallestNorm = 1e-12;  // a vector of no length has no direction

}  // namespace

QkColumns::QkColumns(const ObservedSample& sample) : sample_(sample) {
  const std::int64_t S = sample.forward_count(), L = sample.layer_count(), T = sample.tokens;
  for (const auto& arrays : kArrays) {
    // The name that require_array knows comes first.
    for (const auto name : {arrays.dot, arrays.cosine, arrays.norm, arrays.self_dot})
      require_shape(sample, name, {S, L, sample.heads, T});
  }
  require_shape(sample, trace::kQueryNorm, {S, L, sample.heads, T});
  require_shape(sample, trace::kKeyNorm, {S, L, sample.kv_heads, T});
  BUOY_CHECK(sample.kv_heads > 0 && sample.heads % sample.kv_heads == 0);
  columns_ = T > 1 ? (sample.causal ? T - 1 : T) : 0;
}

ColumnMeans QkColumns::of(Stage stage, std::int64_t head) const {
  const Values& v = values_[stage];
  const auto begin = static_cast<size_t>(head * columns_), count = static_cast<size_t>(columns_);
  return {std::span(v.dot).subspan(begin, count), std::span(v.cosine).subspan(begin, count),
          std::span(v.norm).subspan(begin, count)};
}

void QkColumns::read_stage(Stage stage, std::int64_t s, std::int64_t l) {
  const auto& names = kArrays[stage];
  const auto& stored = sample_.stored();
  const auto dot = stored.floats_at(names.dot, {s, l}), cosine = stored.floats_at(names.cosine, {s, l}),
             self_dot = stored.floats_at(names.self_dot, {s, l});
  auto& norm = stored_norm_[stage];
  norm = stored.floats_at(names.norm, {s, l});
  Values& to = values_[stage];
  const auto size = static_cast<size_t>(sample_.heads * columns_);
  to.dot.resize(size), to.cosine.resize(size), to.norm.resize(size);
  const std::int64_t T = sample_.tokens;
  for (std::int64_t h = 0; h < sample_.heads; ++h) {
    for (std::int64_t j = 0; j < columns_; ++j) {
      const auto from = static_cast<size_t>(h * T + j), at = static_cast<size_t>(h * columns_ + j);
      const auto n = static_cast<double>(sample_.causal ? T - j : T);
      const double self = self_norm_[from];
      const double self_cosine = self > kSmallestNorm ? self_dot[from] / self : 0.0;
      to.dot[at] = (n * dot[from] - self_dot[from]) / (n - 1);
      to.cosine[at] = (n * cosine[from] - self_cosine) / (n - 1);
      to.norm[at] = (n * norm[from] - self) / (n - 1);
    }
  }
}

void QkColumns::read(std::int64_t s, std::int64_t l) {
  const auto queries = sample_.stored().floats_at(trace::kQueryNorm, {s, l});
  const auto keys = sample_.stored().floats_at(trace::kKeyNorm, {s, l});
  const std::int64_t T = sample_.tokens, group = sample_.heads / sample_.kv_heads;
  self_norm_.resize(queries.size());
  for (std::int64_t h = 0; h < sample_.heads; ++h) {
    for (std::int64_t j = 0; j < T; ++j)
      self_norm_[static_cast<size_t>(h * T + j)] =
          static_cast<double>(queries[static_cast<size_t>(h * T + j)]) *
          keys[static_cast<size_t>(h / group * T + j)];
  }
  read_stage(kAfterRotation, s, l);
  read_stage(kBeforeRotation, s, l);
  largest_change_ = mean_change_ = 0;
  const auto &after = stored_norm_[kAfterRotation], &before = stored_norm_[kBeforeRotation];
  for (size_t i = 0; i < after.size(); ++i) {
    const double change = std::abs(double{before[i]} - after[i]) / std::max<double>(after[i], kSmallestNorm);
    largest_change_ = std::max(largest_change_, change);
    mean_change_ += change / static_cast<double>(after.size());
  }
}

}  // namespace buoy::analysis
