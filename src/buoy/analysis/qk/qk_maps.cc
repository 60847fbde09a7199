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

using Profile = QkMaps::Panel::Profile;

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

std::int64_t layer_of_map(const SampleFacts& sample, const AnalysisOptions& options) {
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
  columns_.explain(schema::qk_columns.floating,
                   fmt::format("yes: in the set the z values are taken against ({}, if empty the largest)",
                               rule_name(Rule::kThreeSigma, options.rules())));
}

QkMaps::Panel QkMaps::panel_of(const SampleFacts& sample) const {
  if (options_.head >= sample.heads) {
    throw_usage_error(
        {"`head`", fmt::format("a head below {}", sample.heads), fmt::format("{}", options_.head)});
  }
  Panel panel;
  panel.layer_index = layer_of_map(sample, options_);
  panel.layer = sample.layers[static_cast<size_t>(panel.layer_index)];
  panel.step = sample.steps.back();
  return panel;
}

void QkMaps::keep(const LayerView& layer, const QkColumns& columns, Panel& panel) const {
  const SampleFacts& sample = layer.sample;
  if (layer.l != panel.layer_index || layer.s() + 1 != sample.step_count()) return;
  const std::int64_t head = std::max<std::int64_t>(options_.head, -1);
  Detection& found = layer.detection();
  const auto shares = found.received(head);
  panel.shares.assign(shares.begin(), shares.end());
  const Anchors* anchors = &found.anchors(head, Rule::kThreeSigma);
  if (!anchors->defined || anchors->positions.empty()) anchors = &found.anchors(head, Rule::kTop1);
  panel.floating.assign(panel.shares.size(), 0);
  for (const auto j : anchors->positions) panel.floating[static_cast<size_t>(j)] = 1;
  for (const auto stage : {kAfterRotation, kBeforeRotation})
    panel.profiles[stage] =
        profile_of(columns, stage, std::max<std::int64_t>(0, head), head < 0 ? sample.heads : head + 1);
  const auto queries = trace::queries_name(panel.step, panel.layer),
             keys = trace::keys_name(panel.step, panel.layer);
  if (!sample.has(queries) || !sample.has(keys)) return;
  require_shape(sample, queries, {sample.tokens, sample.heads, sample.head_dim});
  require_shape(sample, keys, {sample.tokens, sample.kv_heads, sample.head_dim});
  const auto q = layer.floats(queries), k = layer.floats(keys);
  const auto shown = std::min(kMostPositions, sample.tokens);
  panel.queries.assign(q.begin(), q.begin() + shown * sample.heads * sample.head_dim);
  panel.keys.assign(k.begin(), k.begin() + shown * sample.kv_heads * sample.head_dim);
}

void QkMaps::archive(StateArchive& archive, Panel& panel, const Extent& of) {
  const std::int64_t columns = QkColumns::count(of.reach);
  bool with_states = !panel.queries.empty();
  archive.flag(with_states);
  if (archive.reads()) {
    panel.shares.resize(static_cast<size_t>(of.reach.end));
    panel.floating.resize(static_cast<size_t>(of.reach.end));
    for (auto& profile : panel.profiles) {
      for (auto* values : {&profile.dot, &profile.cosine, &profile.norm})
        values->resize(static_cast<size_t>(columns));
    }
    const std::int64_t shown = with_states ? std::min(kMostPositions, of.tokens) : 0;
    panel.queries.resize(static_cast<size_t>(shown * of.heads * of.head_dim));
    panel.keys.resize(static_cast<size_t>(shown * of.kv_heads * of.head_dim));
  }
  archive.numbers(panel.shares);
  archive.integers(panel.floating, 0, 1);
  for (auto& profile : panel.profiles) {
    for (auto* values : {&profile.dot, &profile.cosine, &profile.norm}) archive.numbers(*values);
  }
  archive.numbers(panel.queries);
  archive.numbers(panel.keys);
}

void QkMaps::draw(const ObservedSample& sample, const Panel& panel) {
  draw_columns(sample, panel);
  if (!panel.queries.empty()) draw_pairs(sample, panel);
}

void QkMaps::draw_columns(const ObservedSample& sample, const Panel& panel) {
  const std::int64_t head = options_.head;
  const auto& shares = panel.shares;
  const auto& floating = panel.floating;
  const auto& t = schema::qk_columns;
  for (const auto stage : {kAfterRotation, kBeforeRotation}) {
    const Profile& profile = panel.profiles[stage];
    for (size_t j = 0; j < profile.dot.size(); ++j) {
      const Standing dot = standing(profile.dot, floating, j), cosine = standing(profile.cosine, floating, j),
                     norm = standing(profile.norm, floating, j);
      columns_.add({{t.sample, sample.id()},
                    {t.step, std::int64_t{panel.step}},
                    {t.layer, std::int64_t{panel.layer}},
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

void QkMaps::draw_pairs(const ObservedSample& sample, const Panel& panel) {
  const std::int64_t step = panel.step, layer = panel.layer;
  const std::int64_t H = sample.heads, V = sample.kv_heads, D = sample.head_dim;
  const auto &queries = panel.queries, &keys = panel.keys;
  const std::int64_t first = std::max<std::int64_t>(0, options_.head),
                     last = options_.head < 0 ? H : first + 1;
  const auto& t = schema::qk_pairs;
  const std::int64_t shown = std::min(kMostPositions, sample.tokens);
  const Reach reach = sample.reach_at(sample.step_count() - 1);
  for (std::int64_t i = reach.first; i < std::min(shown, reach.end); ++i) {
    for (std::int64_t j = 0; j < std::min(shown, reach.keys_of(i)); ++j) {
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
