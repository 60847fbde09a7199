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

void QkColumns::require(const SampleFacts& sample) {
  const std::int64_t S = sample.observed_count(), L = sample.layer_count(), T = sample.tokens;
  for (const auto& arrays : kArrays) {
    // The name that require_array knows comes first.
    for (const auto name : {arrays.dot, arrays.cosine, arrays.norm, arrays.self_dot})
      require_shape(sample, name, {S, L, sample.heads, T});
  }
  require_shape(sample, trace::kQueryNorm, {S, L, sample.heads, T});
  require_shape(sample, trace::kKeyNorm, {S, L, sample.kv_heads, T});
  BUOY_CHECK(sample.kv_heads > 0 && sample.heads % sample.kv_heads == 0);
}

std::int64_t QkColumns::count(const Reach& reach) {
  if (reach.end <= 1) return 0;
  return reach.first_query_of(reach.end - 1) < reach.end - 1 ? reach.end : reach.end - 1;
}

ColumnMeans QkColumns::of(Stage stage, std::int64_t head) const {
  const Values& v = values_[stage];
  const auto begin = static_cast<size_t>(head * columns_), count = static_cast<size_t>(columns_);
  return {std::span(v.dot).subspan(begin, count), std::span(v.cosine).subspan(begin, count),
          std::span(v.norm).subspan(begin, count)};
}

void QkColumns::read_stage(Stage stage, const LayerView& layer) {
  const auto& names = kArrays[stage];
  const auto dot = layer.floats(names.dot), cosine = layer.floats(names.cosine),
             self_dot = layer.floats(names.self_dot), norm = layer.floats(names.norm);
  Values& to = values_[stage];
  const std::int64_t T = layer.sample.tokens, heads = layer.sample.heads;
  const auto size = static_cast<size_t>(heads * columns_);
  to.dot.resize(size), to.cosine.resize(size), to.norm.resize(size);
  const double *queries = queries_.data(), *all_others = others_.data();
  for (std::int64_t h = 0; h < heads; ++h) {
    const float *dots = dot.data() + h * T, *cosines = cosine.data() + h * T, *norms = norm.data() + h * T,
                *self_dots = self_dot.data() + h * T;
    const double* selves = self_norm_.data() + h * T;
    double* __restrict to_dot = to.dot.data() + h * columns_;
    double* __restrict to_cosine = to.cosine.data() + h * columns_;
    double* __restrict to_norm = to.norm.data() + h * columns_;
    for (std::int64_t j = 0; j < columns_; ++j) {
      const double n = queries[j], self = selves[j], others = all_others[j];
      const double direction = self_dots[j] / std::max(self, kSmallestNorm);
      to_dot[j] = (n * dots[j] - self_dots[j]) / others;
      to_cosine[j] = (n * cosines[j] - (self > kSmallestNorm ? direction : 0.0)) / others;
      to_norm[j] = (n * norms[j] - self) / others;
    }
  }
}

void QkColumns::read(const LayerView& layer) {
  const auto queries = layer.floats(trace::kQueryNorm), keys = layer.floats(trace::kKeyNorm);
  const SampleFacts& sample = layer.sample;
  const std::int64_t T = sample.tokens, group = sample.heads / sample.kv_heads;
  const Reach& reach = layer.forward.reach;
  columns_ = count(reach);
  self_norm_.resize(queries.size());
  queries_.resize(static_cast<size_t>(columns_));
  others_.resize(queries_.size());
  for (std::int64_t j = 0; j < columns_; ++j) {
    const auto see = reach.end - reach.first_query_of(j);
    queries_[static_cast<size_t>(j)] = static_cast<double>(see);
    others_[static_cast<size_t>(j)] = static_cast<double>(see - (reach.ran(j) ? 1 : 0));
  }
  for (std::int64_t h = 0; h < sample.heads; ++h) {
    for (std::int64_t j = 0; j < T; ++j)
      self_norm_[static_cast<size_t>(h * T + j)] =
          static_cast<double>(queries[static_cast<size_t>(h * T + j)]) *
          keys[static_cast<size_t>(h / group * T + j)];
  }
  read_stage(kAfterRotation, layer);
  read_stage(kBeforeRotation, layer);
  largest_change_ = mean_change_ = 0;
  const auto after = layer.floats(kArrays[kAfterRotation].norm),
             before = layer.floats(kArrays[kBeforeRotation].norm);
  changes_.resize(after.size());
  for (size_t i = 0; i < after.size(); ++i)
    changes_[i] = std::abs(double{before[i]} - after[i]) / std::max<double>(after[i], kSmallestNorm);
  for (const double change : changes_) {
    largest_change_ = std::max(largest_change_, change);
    mean_change_ += change / static_cast<double>(sample.heads * reach.end);
  }
}

}  // namespace buoy::analysis
