#include "buoy/run/live/compact_arrays.h"

#include <algorithm>
#include <numeric>

#include "buoy/analysis/sample/answer_span.h"
#include "buoy/base/quantised_row.h"
#include "buoy/trace/schema.h"

namespace buoy::run {
namespace {

// Rows of one cell: codes and scales, as they are stored.
class CellRows {
 public:
  CellRows(std::int64_t rows, std::int64_t tokens) : tokens_(static_cast<size_t>(tokens)) {
    codes_.resize(static_cast<size_t>(rows) * tokens_);
    scales_.reserve(static_cast<size_t>(rows * kScaleNumbers));
  }

  void add(std::span<const double> row) {
    const auto scale = quantise_row(row, std::span(codes_).subspan(next_ * tokens_, tokens_));
    scales_.insert(scales_.end(), {scale.low, scale.high});
    ++next_;
  }
  void put(trace::SampleFile& file, std::string_view codes, std::string_view scales, std::int64_t cell) {
    file.put(codes, cell, codes_);
    file.put(scales, cell, scales_);
  }

 private:
  size_t tokens_, next_ = 0;
  std::vector<std::uint8_t> codes_;
  std::vector<float> scales_;
};

}  // namespace

observe::Plan with_rows(observe::Plan plan) {
  std::vector<const observe::Observable*> wanted;
  for (const auto& observable : observe::observables()) {
    if (observable.name == "rows" || plan.has(observable.name)) wanted.push_back(&observable);
  }
  plan.wanted = std::move(wanted);
  return plan;
}

CompactArrays::CompactArrays(const analysis::SampleFacts& sample, bool chosen)
    : layers_(sample.layer_count()),
      regions_(std::ssize(sample.region_names)),
      received_(sample.has(trace::kReceived)),
      heads_(received_ && chosen),
      rows_(chosen && sample.has(trace::kRowWeights)) {
  const std::int64_t S = sample.observed_count(), L = layers_, T = sample.tokens, H = sample.heads;
  const std::int64_t G = std::ssize(sample.group_names), R = std::ssize(sample.row_positions);
  const auto add = [&](std::string_view name, trace::DataType dtype, std::vector<std::int64_t> cell) {
    std::vector<std::int64_t> shape = {S, L};
    shape.insert(shape.end(), cell.begin(), cell.end());
    arrays_.push_back({std::string(name), dtype, std::move(shape), S * L});
  };
  using enum trace::DataType;
  if (received_) {
    add(trace::kMeanScales, kF32, {kScaleNumbers});
    if (regions_ > 0) add(trace::kMeanMass, kF32, {G, regions_});
    add(trace::kMeanTopWeights, kF32, {kTopKeys});
    add(trace::kMeanTopKeys, kI32, {kTopKeys});
  }
  if (heads_) add(trace::kHeadScales, kF32, {H, kScaleNumbers});
  if (rows_) add(trace::kRowScales, kF32, {R, kScaleNumbers});
  if (received_) add(trace::kMeanCodes, kU8, {T});
  if (heads_) add(trace::kHeadCodes, kU8, {H, T});
  if (rows_) add(trace::kRowCodes, kU8, {R, T});
}

std::set<std::string> CompactArrays::kept_as_f32() {
  return {std::string(trace::kMeanScales), std::string(trace::kHeadScales), std::string(trace::kRowScales)};
}

void CompactArrays::take(const analysis::LayerView& layer, trace::SampleFile& file) const {
  if (received_) {
    take_mean(layer, file);
    if (regions_ > 0) take_mass(layer, file);
  }
  if (heads_) take_heads(layer, file);
  if (rows_) take_rows(layer, file);
}

void CompactArrays::take_mean(const analysis::LayerView& layer, trace::SampleFile& file) const {
  const auto& received = layer.received();
  CellRows rows(1, received.tokens);
  rows.add(received.mean);
  rows.put(file, trace::kMeanCodes, trace::kMeanScales, cell(layer));

  std::vector<std::int32_t> keys(received.mean.size());
  std::iota(keys.begin(), keys.end(), 0);
  const auto kept = std::min<std::int64_t>(kTopKeys, received.tokens);
  std::partial_sort(keys.begin(), keys.begin() + kept, keys.end(), [&](std::int32_t a, std::int32_t b) {
    const double of_a = received.mean[static_cast<size_t>(a)], of_b = received.mean[static_cast<size_t>(b)];
    return of_a != of_b ? of_a > of_b : a < b;
  });
  keys.resize(kTopKeys);
  std::fill(keys.begin() + kept, keys.end(), -1);
  std::vector<float> weights(kTopKeys, 0.0F);
  for (std::int64_t k = 0; k < kept; ++k) {
    const auto key = static_cast<size_t>(keys[static_cast<size_t>(k)]);
    weights[static_cast<size_t>(k)] = static_cast<float>(received.mean[key]);
  }
  file.put(trace::kMeanTopKeys, cell(layer), keys);
  file.put(trace::kMeanTopWeights, cell(layer), weights);
}

// Of every query group: what it gives to each region, mean over the heads.
void CompactArrays::take_mass(const analysis::LayerView& layer, trace::SampleFile& file) const {
  const auto& sample = layer.sample;
  const std::int64_t heads = sample.heads, groups = std::ssize(sample.group_names);
  std::vector<double> sums(static_cast<size_t>(groups * regions_), 0.0);
  // [G, H, C] where it is observed, else [G, H, T]: the same sums.
  const bool by_region = sample.has(trace::kMass);
  const auto values = layer.floats(by_region ? trace::kMass : trace::kReceived);
  const std::int64_t width = by_region ? regions_ : sample.tokens;
  const auto region_of_token = by_region ? std::vector<std::int32_t>{}
                                         : analysis::region_of_token_at(sample, layer.forward.answer_end);
  for (std::int64_t row = 0; row < groups * heads; ++row) {
    double* of_group = sums.data() + row / heads * regions_;
    const float* value = values.data() + row * width;
    for (std::int64_t i = 0; i < width; ++i) {
      const std::int64_t region = by_region ? i : region_of_token[static_cast<size_t>(i)];
      if (region < regions_) of_group[region] += value[i];
    }
  }
  std::vector<float> mean;
  for (const double sum : sums) mean.push_back(static_cast<float>(sum / static_cast<double>(heads)));
  file.put(trace::kMeanMass, cell(layer), mean);
}

void CompactArrays::take_heads(const analysis::LayerView& layer, trace::SampleFile& file) const {
  const auto& received = layer.received();
  CellRows rows(received.heads, received.tokens);
  for (std::int64_t h = 0; h < received.heads; ++h) rows.add(received.of(h));
  rows.put(file, trace::kHeadCodes, trace::kHeadScales, cell(layer));
}

void CompactArrays::take_rows(const analysis::LayerView& layer, trace::SampleFile& file) const {
  const auto weights = layer.floats(trace::kRowWeights);  // [R, H, T]
  const std::int64_t heads = layer.sample.heads, tokens = layer.sample.tokens;
  const std::int64_t count = std::ssize(layer.sample.row_positions);
  CellRows rows(count, tokens);
  std::vector<double> mean(static_cast<size_t>(tokens));
  for (std::int64_t r = 0; r < count; ++r) {
    std::fill(mean.begin(), mean.end(), 0.0);
    for (std::int64_t h = 0; h < heads; ++h) {
      const float* row = weights.data() + (r * heads + h) * tokens;
      for (std::int64_t j = 0; j < tokens; ++j) mean[static_cast<size_t>(j)] += row[j];
    }
    for (auto& value : mean) value /= static_cast<double>(heads);
    rows.add(mean);
  }
  rows.put(file, trace::kRowCodes, trace::kRowScales, cell(layer));
}

}  // namespace buoy::run
