#include "buoy/analysis/qk/qk_maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "buoy/analysis/core/extent.h"
#include "buoy/analysis/floating/floating_rules.h"
#include "buoy/base/error.h"
#include "buoy/result/schema/qk.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

constexpr std::int64_t kMostPositions = 128;

Cell head_cell(std::int64_t head) {
  return head < 0 ? Cell("mean") : Cell(head);
}

struct Profile {
  std::vector<double> dot, cosine, norm;  // [columns]
};

Profile profile_of(const QkColumns& columns, Stage stage, std::int64_t first, std::int64_t last) {
  const auto count = static_cast<size_t>(columns.columns());
  Profile out{std::vector<double>(count, 0.0), std::vector<double>(count, 0.0),
              std::vector<double>(count, 0.0)};
  const auto heads = static_cast<double>(last - first);
  for (std::int64_t h = first; h < last; ++h) {
    const ColumnMeans means = columns.of(stage, h);
    for (size_t j = 0; j < count; ++j) {
      out.dot[j] += means.dot[j] / heads;
      out.cosine[j] += means.cosine[j] / heads;
      out.norm[j] += means.norm[j] / heads;
    }
  }
  return out;
}

// Where a column stands among all.
struct Standing {
  Cell z;     // against the columns that do not float, in their deviations
  Cell rank;  // among all, 1 the largest
};

Standing standing(const std::vector<double>& values, const std::vector<std::uint8_t>& floating, size_t j) {
  double sum = 0, square = 0, count = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (floating[i] != 0) continue;
    sum += values[i], square += values[i] * values[i], count += 1;
  }
  const double mean = sum / count, variance = square / count - mean * mean;
  return {variance > 1e-12 * mean * mean ? number_cell((values[j] - mean) / std::sqrt(variance)) : Cell(),
          1 + static_cast<std::int64_t>(
                  std::count_if(values.begin(), values.end(), [&](double v) { return v > values[j]; }))};
}

}  // namespace

std::int64_t layer_of_map(const ObservedSample& sample, const AnalysisOptions& options) {
  if (options.layer < 0) return sample.layer_count() * 7 / 8;
  const auto at = std::lower_bound(sample.layers.begin(), sample.layers.end(), options.layer);
  if (at == sample.layers.end() || *at != options.layer) {
    throw_usage_error({"`layer`", fmt::format("a layer that sample {} was observed in", sample.id()),
                       fmt::format("{}", options.layer)});
  }
  return at - sample.layers.begin();
}

QkMaps::QkMaps(const AnalysisOptions& options)
    : options_(options), columns_(schema::qk_columns), pairs_(schema::qk_pairs) {
  columns_.explain(
      schema::qk_columns.floating,
      fmt::format("yes: in the set the z values are taken against ({}, if empty the largest)",
                  rule_name(Rule::kThreeSigma, {options.epsilon, options.share_factor, options.mad_factor})));
}

void QkMaps::draw(const ObservedSample& sample) {
  if (options_.head >= sample.heads) {
    throw_usage_error(
        {"`head`", fmt::format("a head below {}", sample.heads), fmt::format("{}", options_.head)});
  }
  const std::int64_t l = layer_of_map(sample, options_);
  draw_columns(sample, l);
  draw_pairs(sample, l);
}

void QkMaps::draw_columns(const ObservedSample& sample, std::int64_t l) {
  const std::int64_t s = sample.step_count() - 1, head = options_.head;
  const Received received = sample.received(s, l);
  const std::span<const double> shares =
      head < 0 ? std::span<const double>(received.mean)
               : std::span<const double>(received.head(head), static_cast<size_t>(sample.tokens));
  AnchorDetector detector(sample.causal, sample.tokens,
                          {options_.epsilon, options_.share_factor, options_.mad_factor});
  Anchors anchors;
  detector.look(shares);
  detector.find(Rule::kThreeSigma, anchors);
  if (!anchors.defined || anchors.positions.empty()) detector.find(Rule::kTop1, anchors);
  std::vector<std::uint8_t> floating(static_cast<size_t>(sample.tokens), 0);
  for (const auto j : anchors.positions) floating[static_cast<size_t>(j)] = 1;
  QkColumns columns(sample);
  columns.read(s, l);
  const auto& t = schema::qk_columns;
  for (const auto stage : {kAfterRotation, kBeforeRotation}) {
    const Profile profile =
        profile_of(columns, stage, std::max<std::int64_t>(0, head), head < 0 ? sample.heads : head + 1);
    for (size_t j = 0; j < profile.dot.size(); ++j) {
      const Standing dot = standing(profile.dot, floating, j), cosine = standing(profile.cosine, floating, j),
                     norm = standing(profile.norm, floating, j);
      columns_.add({{t.sample, sample.id()},
                    {t.step, std::int64_t{sample.steps[static_cast<size_t>(s)]}},
                    {t.layer, std::int64_t{sample.layers[static_cast<size_t>(l)]}},
                    {t.head, head_cell(head)},
                    {t.stage, kStageNames[stage]},
                    {t.position, static_cast<std::int64_t>(j)},
                    {t.token, j < sample.token_texts.size() ? Cell(sample.token_texts[j]) : Cell()},
                    {t.received, shares[j]},
                    {t.floating, floating[j] != 0 ? "yes" : "no"},
                    {t.dot, number_cell(profile.dot[j])},
                    {t.cosine, number_cell(profile.cosine[j])},
                    {t.norm_product, number_cell(profile.norm[j])},
                    {t.residual, number_cell(profile.dot[j] - profile.norm[j] * profile.cosine[j])},
                    {t.z_dot, dot.z},
                    {t.rank_dot, dot.rank},
                    {t.z_cosine, cosine.z},
                    {t.rank_cosine, cosine.rank},
                    {t.z_norm_product, norm.z},
                    {t.rank_norm_product, norm.rank}});
    }
  }
}

void QkMaps::draw_pairs(const ObservedSample& sample, std::int64_t l) {
  const std::int64_t s = sample.step_count() - 1, step = sample.steps[static_cast<size_t>(s)],
                     layer = sample.layers[static_cast<size_t>(l)];
  const auto queries_name = trace::queries_name(step, layer), keys_name = trace::keys_name(step, layer);
  if (!sample.stored().has(queries_name) || !sample.stored().has(keys_name)) return;
  const std::int64_t H = sample.heads, V = sample.kv_heads, D = sample.head_dim;
  require_shape(sample, queries_name, {sample.tokens, H, D});
  require_shape(sample, keys_name, {sample.tokens, V, D});
  const auto queries = sample.stored().floats(queries_name), keys = sample.stored().floats(keys_name);
  const std::int64_t first = std::max<std::int64_t>(0, options_.head),
                     last = options_.head < 0 ? H : first + 1;
  const auto& t = schema::qk_pairs;
  const std::int64_t shown = std::min(kMostPositions, sample.tokens);
  for (std::int64_t i = 0; i < shown; ++i) {
    for (std::int64_t j = 0; j < (sample.causal ? i + 1 : shown); ++j) {
      double dot_sum = 0, cosine_sum = 0, norm_sum = 0;
      for (std::int64_t h = first; h < last; ++h) {
        const float* q = queries.data() + (i * H + h) * D;
        const float* k = keys.data() + (j * V + h / (H / V)) * D;
        double dot = 0, qq = 0, kk = 0;
        for (std::int64_t d = 0; d < D; ++d)
          dot += double{q[d]} * k[d], qq += double{q[d]} * q[d], kk += double{k[d]} * k[d];
        const double norm = std::sqrt(qq * kk);
        dot_sum += dot, norm_sum += norm, cosine_sum += dot / std::max(norm, 1e-12);
      }
      const auto heads = static_cast<double>(last - first);
      pairs_.add({{t.sample, sample.id()},
                  {t.step, step},
                  {t.layer, layer},
                  {t.head, head_cell(options_.head)},
                  {t.query, i},
                  {t.key, j},
                  {t.dot, dot_sum / heads},
                  {t.cosine, cosine_sum / heads},
                  {t.norm_product, norm_sum / heads}});
    }
  }
}

}  // namespace buoy::analysis
