#include "buoy/analysis/heads/sample_heads.h"

#include <cmath>
#include <numeric>

#include "buoy/analysis/core/uniform.h"
#include "buoy/stats/not_a_number.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {
namespace {

struct MeanOfRows {
  double value = 0, null = 0, rows = 0;

  void add(double of_row, double of_null) { value += of_row, null += of_null, rows += 1; }
  WithNull mean() const {
    return rows > 0 ? WithNull{value / rows, null / rows} : WithNull{stats::kNan, stats::kNan};
  }
};

std::int64_t sort_of(const LayerView& layer, std::int64_t row) {
  const std::int64_t written = row + layer.sample.prediction_offset;
  if (written < layer.sample.prompt_length) return kPromptRow;
  if (written >= layer.sample.tokens) return kRowSorts;  // writes nothing
  return layer.forward.masked[static_cast<size_t>(written)] != 0 ? kMaskedRow : kRevealedRow;
}

}  // namespace

SampleHeads::SampleHeads(const SampleFacts& sample, double sink_share)
    : means({sample.layer_count(), sample.heads, kHeadQuantities}),
      sink_share_(sink_share),
      even_(sample.layer_count(), whole_row(sample.mask, sample.tokens), even_of) {}

SampleHeads::Even SampleHeads::even_of(const Reach& reach) {
  Even out;
  for (std::int64_t i = reach.first; i < reach.end; ++i) {
    out.keys.push_back(static_cast<double>(reach.keys_of(i)));
    out.log_keys.push_back(std::log(out.keys.back()));
  }
  out.received = uniform_received(reach);
  return out;
}

void SampleHeads::take(const LayerView& layer) {
  if (!layer.forward.is_step) return;
  take_rows(layer);
  take_values(layer);
  if (layer.sample.has(trace::kHeadNorm)) take_outputs(layer);
}

void SampleHeads::take_rows(const LayerView& layer) {
  const auto& sample = layer.sample;
  const auto entropy = layer.floats(trace::kEntropy);  // [heads, tokens]
  const Reach& reach = layer.forward.reach;
  const Even& even = even_.of(layer.l, reach);
  std::vector<std::int64_t> sorts;
  for (std::int64_t i = reach.first; i < reach.end; ++i) sorts.push_back(sort_of(layer, i));
  const auto each_row = [&](std::span<const float> of_rows, std::int64_t h, const auto& take) {
    const auto ran = of_rows.subspan(static_cast<size_t>(h * sample.tokens + reach.first), sorts.size());
    for (size_t i = 0; i < ran.size(); ++i) take(i, static_cast<double>(ran[i]));
  };
  const auto add_sorts = [&](std::int64_t h, std::int64_t first,
                             const std::array<MeanOfRows, kRowSorts + 1>& of) {
    for (std::int64_t sort = 0; sort < kRowSorts; ++sort)
      means.add_head(layer, h, first + sort, of[static_cast<size_t>(sort)].mean());
  };
  for (std::int64_t h = 0; h < sample.heads; ++h) {
    MeanOfRows all, share;
    std::array<MeanOfRows, kRowSorts + 1> of_sort;
    each_row(entropy, h, [&](size_t i, double nats) {
      all.add(nats, even.log_keys[i]);
      if (even.keys[i] > 1) share.add(nats / even.log_keys[i], 1);
      of_sort[static_cast<size_t>(sorts[i])].add(nats, even.log_keys[i]);
    });
    means.add_head(layer, h, kHeadEntropy, all.mean());
    means.add_head(layer, h, kHeadEntropyShare, share.mean());
    add_sorts(h, kEntropyOfSort, of_sort);
  }
  const auto first = layer.floats(trace::kFirstShare);
  for (std::int64_t h = 0; h < sample.heads; ++h) {
    std::array<MeanOfRows, kRowSorts + 1> of_sort;
    each_row(first, h, [&](size_t i, double weight) {
      of_sort[static_cast<size_t>(sorts[i])].add(weight, 1 / even.keys[i]);
    });
    add_sorts(h, kFirstOfSort, of_sort);
  }
}

void SampleHeads::take_values(const LayerView& layer) {
  const auto& sample = layer.sample;
  const Reach& reach = layer.forward.reach;
  const auto tokens = static_cast<size_t>(sample.tokens), keys = static_cast<size_t>(reach.end);
  const auto& even = even_.of(layer.l, reach).received;
  const auto norms = layer.floats(trace::kValueNorm);  // [kv heads, tokens]
  std::vector<WithNull> of_values;                     // mean length, and that of even attention
  for (std::int64_t v = 0; v < sample.kv_heads; ++v) {
    const auto of_head = norms.subspan(static_cast<size_t>(v) * tokens, keys);
    of_values.push_back({std::accumulate(of_head.begin(), of_head.end(), 0.0) / static_cast<double>(keys),
                         std::inner_product(of_head.begin(), of_head.end(), even.begin(), 0.0)});
  }
  const auto lengths = layer.floats(trace::kContribution);  // [heads, tokens], sums over queries
  for (std::int64_t h = 0; h < sample.heads; ++h) {
    const auto& values = of_values[static_cast<size_t>(h / (sample.heads / sample.kv_heads))];
    const auto of_head = lengths.subspan(static_cast<size_t>(h) * tokens, keys);
    const double attended = std::accumulate(of_head.begin(), of_head.end(), 0.0);
    means.add_head(layer, h, kValueLength, {values.value, stats::kNan});
    means.add_head(layer, h, kAttendedLength, {attended / static_cast<double>(reach.queries()), values.null});
  }
}

void SampleHeads::take_outputs(const LayerView& layer) {
  const auto& sample = layer.sample;
  const Reach& reach = layer.forward.reach;
  const auto norms = layer.floats(trace::kHeadNorm);  // [heads, tokens]
  std::vector<double> outputs;
  for (std::int64_t h = 0; h < sample.heads; ++h) {
    const auto of_head = norms.subspan(static_cast<size_t>(h * sample.tokens + reach.first),
                                       static_cast<size_t>(reach.queries()));
    outputs.push_back(std::accumulate(of_head.begin(), of_head.end(), 0.0) /
                      static_cast<double>(reach.queries()));
  }
  const auto heads = static_cast<double>(sample.heads);
  const double mean = std::accumulate(outputs.begin(), outputs.end(), 0.0) / heads;
  if (!(mean > 0)) return;
  double dormant = 0, at_sink = 0;
  for (std::int64_t h = 0; h < sample.heads; ++h) {
    dormant += outputs[static_cast<size_t>(h)] < kDormantBelow * mean ? 1 : 0;
    at_sink += layer.detection().top_share(h) > sink_share_ ? 1 : 0;
  }
  for (std::int64_t h = 0; h < sample.heads; ++h) {
    const double output = outputs[static_cast<size_t>(h)];
    const bool sleeps = output<kDormantBelow * mean, sinks = layer.detection().top_share(h)> sink_share_;
    means.add_head(layer, h, kHeadOutput, {output, mean});
    means.add_head(layer, h, kOutputShare, {output / mean, 1});
    means.add_head(layer, h, kDormant, {sleeps ? 1.0 : 0.0, 0});
    means.add_head(layer, h, kDormantAtSink,
                   {sleeps && sinks ? 1.0 : 0.0, dormant * at_sink / (heads * heads)});
  }
}

}  // namespace buoy::analysis
