#include "buoy/analysis/qk/qk_published.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "buoy/analysis/core/extent.h"
#include "buoy/analysis/floating/floating_rules.h"
#include "buoy/result/schema/qk.h"
#include "buoy/stats/not_a_number.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

constexpr std::int64_t kFirstRow = 8, kLastRow = 51;
constexpr std::array kPanels = {"dot", "cosine", "norm_product"};

// Read off the published panels (docs/measurements.md 9).
struct Panel {
  std::int64_t layer;
  const char* name;
  double floating, others, deviation;
  std::int64_t rank;
};
constexpr std::array kPaper = {
    Panel{11, "dot", 3.61, 1.88, 0.21, 1},          Panel{11, "cosine", 0.57, 0.38, 0.03, 1},
    Panel{11, "norm_product", 6.40, 4.98, 0.35, 1}, Panel{28, "dot", 1.77, 0.27, 0.24, 1},
    Panel{28, "cosine", 0.37, 0.04, 0.03, 1},       Panel{28, "norm_product", 4.75, 7.30, 0.53, 53},
};
constexpr std::int64_t kPaperPosition = 45, kPaperTokens = 53;

// The mean over heads of each token's vector, [tokens, head size].
std::vector<double> head_mean_vectors(std::span<const float> states, std::int64_t heads, std::int64_t size) {
  std::vector<double> out(states.size() / static_cast<size_t>(heads), 0.0);
  for (size_t i = 0; i < states.size(); ++i) {
    const size_t row = static_cast<size_t>(heads * size), d = i % static_cast<size_t>(size);
    out[i / row * static_cast<size_t>(size) + d] += double{states[i]} / static_cast<double>(heads);
  }
  return out;
}

double dot(const double* a, const double* b, std::int64_t size) {
  double sum = 0;
  for (std::int64_t d = 0; d < size; ++d) sum += a[d] * b[d];
  return sum;
}

}  // namespace

QkPublished::QkPublished() : table_(schema::qk_published) {
  const auto& t = schema::qk_published;
  for (const auto& panel : kPaper) {
    table_.add({{t.source, "paper"},
                {t.layer, panel.layer},
                {t.panel, panel.name},
                {t.position, kPaperPosition},
                {t.columns, kPaperTokens},
                {t.floating, panel.floating},
                {t.others, panel.others},
                {t.others_deviation, panel.deviation},
                {t.z, (panel.floating - panel.others) / panel.deviation},
                {t.rank, panel.rank}});
  }
}

QkPublished::Panel QkPublished::panel_of(const LayerView& layer) {
  const SampleFacts& sample = layer.sample;
  const std::int64_t step = layer.forward.number;
  const auto queries_name = trace::queries_name(step, layer.layer()),
             keys_name = trace::keys_name(step, layer.layer());
  if (!sample.has(queries_name) || !sample.has(keys_name)) return {};
  const std::int64_t T = sample.tokens, D = sample.head_dim;
  require_shape(sample, queries_name, {T, sample.heads, D});
  require_shape(sample, keys_name, {T, sample.kv_heads, D});
  const auto q = head_mean_vectors(layer.floats(queries_name), sample.heads, D);
  const auto k = head_mean_vectors(layer.floats(keys_name), sample.kv_heads, D);
  Panel panel;
  auto& columns = panel.columns;
  for (std::int64_t j = 0; j < T; ++j) {
    std::array<double, 3> sum{};
    double rows = 0;
    for (std::int64_t i = kFirstRow; i <= std::min(kLastRow, T - 1); ++i) {
      if (!layer.forward.reach.ran(i) || j >= layer.forward.reach.keys_of(i)) continue;
      const double *a = q.data() + i * D, *b = k.data() + j * D;
      const double product = dot(a, b, D), norm = std::sqrt(dot(a, a, D) * dot(b, b, D));
      sum[0] += product, sum[1] += product / std::max(norm, 1e-12), sum[2] += norm;
      rows += 1;
    }
    for (size_t panel = 0; panel < 3; ++panel)
      columns[panel].push_back(rows > 0 ? sum[panel] / rows : stats::kNan);
  }
  AnchorDetector detector(layer.forward.reach, RuleOptions{});
  Anchors anchors;
  detector.look(layer.received().of(-1).first(static_cast<size_t>(layer.forward.reach.end)));
  detector.find(Rule::kThreeSigma, anchors);
  if (!anchors.defined || anchors.positions.empty()) detector.find(Rule::kTop1, anchors);
  panel.floating = anchors.positions;
  return panel;
}

void QkPublished::Panel::state(StateArchive& archive, std::int64_t tokens) {
  archive.length(floating, tokens);
  archive.integers(floating, 0, tokens - 1);
  if (floating.empty()) return;
  for (auto& values : columns) {
    values.resize(static_cast<size_t>(tokens));
    archive.numbers(values);
  }
}

void QkPublished::draw(const SampleFacts& sample, std::int64_t l, const Panel& panel) {
  const std::int64_t layer = sample.layers[static_cast<size_t>(l)], T = sample.tokens;
  const auto& [columns, floating] = panel;
  const auto& t = schema::qk_published;
  for (const auto position : floating) {
    for (size_t panel = 0; panel < 3; ++panel) {
      double sum = 0, square = 0, count = 0, all = 0;
      std::int64_t above = 0;
      const double value = columns[panel][static_cast<size_t>(position)];
      for (std::int64_t j = 0; j < T; ++j) {
        const double other = columns[panel][static_cast<size_t>(j)];
        if (std::isnan(other)) continue;
        all += 1;
        above += other > value;
        if (std::binary_search(floating.begin(), floating.end(), static_cast<std::int32_t>(j))) continue;
        sum += other, square += other * other, count += 1;
      }
      const double mean = sum / count, deviation = std::sqrt(std::max(0.0, square / count - mean * mean));
      table_.add({{t.source, "trace"},
                  {t.layer, layer},
                  {t.panel, kPanels[panel]},
                  {t.position, std::int64_t{position}},
                  {t.columns, static_cast<std::int64_t>(all)},
                  {t.floating, number_cell(value)},
                  {t.others, number_cell(mean)},
                  {t.others_deviation, number_cell(deviation)},
                  {t.z, number_cell((value - mean) / deviation)},
                  {t.rank, std::isnan(value) ? Cell() : Cell(above + 1)}});
    }
  }
}

}  // namespace buoy::analysis
