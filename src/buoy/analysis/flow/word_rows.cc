#include "buoy/analysis/flow/word_rows.h"

#include <algorithm>

#include "buoy/analysis/core/extent.h"
#include "buoy/base/error.h"
#include "buoy/stats/not_a_number.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {

std::vector<double> even_shares(const std::vector<AnswerRow>& rows, const ForwardRegions& now,
                                std::int64_t regions) {
  std::vector<double> out(static_cast<size_t>(regions), rows.empty() ? stats::kNan : 0.0);
  std::vector<double> seen(out.size(), 0.0);
  size_t keys = 0;
  const auto see_up_to = [&](size_t end) {
    for (; keys < end; ++keys) {
      if (now.of_token[keys] >= 0) seen[static_cast<size_t>(now.of_token[keys])] += 1;
    }
  };
  for (const auto& row : rows) {  // ascending
    see_up_to(static_cast<size_t>(now.reach.keys_of(row.row)));
    for (size_t r = 0; r < out.size(); ++r)
      out[r] += seen[r] / static_cast<double>(keys) / static_cast<double>(rows.size());
  }
  return out;
}

WordRows::WordRows(const SampleFacts& sample, const SampleRegions& regions)
    : kept_(sample.has(trace::kRowMass) && !sample.row_positions.empty()),
      layers_(sample.layer_count()),
      heads_(sample.heads),
      regions_(regions.count()),
      steps_(sample.step_count()),
      positions_(sample.row_positions) {
  if (!kept_) return;
  require_shape(
      sample, trace::kRowMass,
      {sample.observed_count(), layers_, std::ssize(positions_), heads_, std::ssize(sample.region_names)});
  head_mean_.resize(static_cast<size_t>(steps_ * layers_));
  sums_.resize(static_cast<size_t>(layers_));
}

void WordRows::take(const LayerView& layer, const SampleRegions& regions) {
  if (!kept_) return;
  const auto given = layer.floats(trace::kRowMass);  // [rows, heads, regions of the trace]
  const auto width = static_cast<size_t>(std::ssize(layer.sample.region_names));
  const auto R = static_cast<size_t>(regions_), H = static_cast<size_t>(heads_);
  auto& mean = head_mean_[static_cast<size_t>(layer.s() * layers_ + layer.l)];
  auto& sums = sums_[static_cast<size_t>(layer.l)];
  mean.assign(positions_.size() * R, 0.0F);
  sums.resize(positions_.size() * H * R, 0.0);
  for (size_t row = 0; row < positions_.size(); ++row) {
    for (size_t r = 0; r < R; ++r) {
      double sum = 0;
      for (size_t h = 0; h < H; ++h) {
        const double share = given[(row * H + h) * width + static_cast<size_t>(regions.columns[r])];
        sums[(row * H + h) * R + r] += share;
        sum += share;
      }
      mean[row * R + r] = static_cast<float>(sum / static_cast<double>(heads_));
    }
  }
}

std::int64_t WordRows::index_of(std::int64_t row) const {
  const auto at = std::lower_bound(positions_.begin(), positions_.end(), static_cast<std::int32_t>(row));
  return at != positions_.end() && *at == row ? at - positions_.begin() : -1;
}

std::vector<AnswerRow> WordRows::words(const ObservedSample& sample, std::int64_t s) const {
  std::vector<AnswerRow> out;
  const std::int64_t end = answer_end(sample);
  const Reach reach = sample.reach_at(s);
  for (std::int64_t p = sample.prompt_length; p < end; ++p) {
    const std::int64_t row = trace::row_that_writes(p, sample.prediction_offset);
    if (reach.ran(row) && index_of(row) >= 0) out.push_back({row, sample.masked_at(s, p)});
  }
  return out;
}

std::vector<double> WordRows::shares(const std::vector<AnswerRow>& rows, std::int64_t s,
                                     std::int64_t l) const {
  const auto R = static_cast<size_t>(regions_);
  std::vector<double> out(R, rows.empty() ? stats::kNan : 0.0);
  const auto& mean = head_mean_[static_cast<size_t>(s * layers_ + l)];
  for (const auto& row : rows) {
    const auto at = static_cast<size_t>(index_of(row.row));
    for (size_t r = 0; r < R; ++r)
      out[r] += static_cast<double>(mean[at * R + r]) / static_cast<double>(rows.size());
  }
  return out;
}

// Rows that did not run gave nothing to the sums.
std::vector<double> WordRows::by_head(const ObservedSample& sample, std::int64_t l) const {
  const auto each = static_cast<size_t>(heads_ * regions_);
  std::vector<std::uint8_t> wrote(positions_.size(), 0);
  std::int64_t count = 0;
  for (std::int64_t s = 0; s < steps_; ++s) {
    const auto rows = words(sample, s);
    count += std::ssize(rows);
    for (const auto& row : rows) wrote[static_cast<size_t>(index_of(row.row))] = 1;
  }
  std::vector<double> out(each, count == 0 ? stats::kNan : 0.0);
  const auto& sums = sums_[static_cast<size_t>(l)];
  for (size_t at = 0; at < wrote.size(); ++at) {
    if (wrote[at] == 0) continue;
    for (size_t i = 0; i < each; ++i) out[i] += sums[at * each + i] / static_cast<double>(count);
  }
  return out;
}

void WordRows::let_go() {
  head_mean_ = {};
  sums_ = {};
}

}  // namespace buoy::analysis
