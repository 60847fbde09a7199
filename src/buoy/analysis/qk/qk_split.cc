#include "buoy/analysis/qk/qk_split.h"

#include <algorithm>
#include <cmath>

#include "buoy/stats/not_a_number.h"
#include "buoy/tensor/logarithms.h"

namespace buoy::analysis {
namespace {

constexpr double kSmallest = 1e-300;

std::array<std::span<const double>, 3> parts(const ColumnMeans& columns) {
  return {columns.dot, columns.cosine, columns.norm};
}

// Of a value among all columns: 0 the largest, 1 the smallest.
double rank_share(std::span<const double> values, double value) {
  const auto above = std::count_if(values.begin(), values.end(), [&](double v) { return v > value; });
  return values.size() > 1 ? static_cast<double>(above) / static_cast<double>(values.size() - 1)
                           : stats::kNan;
}

}  // namespace

ColumnTotals::ColumnTotals(const ColumnMeans& columns) {
  const auto all = parts(columns);
  const auto count = columns.norm.size();
  logs.resize(count);
  for (size_t j = 0; j < count; ++j) logs[j] = std::max(columns.norm[j], kSmallest);
  logarithms(logs, logs);
  std::array<double, 3> sums{}, squares{};
  double log_sum = 0;
  for (size_t j = 0; j < count; ++j) {
    for (size_t part = 0; part < 3; ++part) {
      const double value = all[part][j];
      sums[part] += value;
      squares[part] += value * value;
    }
    log_sum += logs[j];
  }
  sum = sums;
  square = squares;
  log_norm = log_sum;
}

ContrastValues contrast(const ColumnMeans& columns, const ColumnTotals& totals,
                        std::span<const std::int32_t> floating, std::int64_t strongest) {
  ContrastValues out;
  out.fill(stats::kNan);
  const auto all = parts(columns);
  const auto count = static_cast<std::int64_t>(columns.dot.size());
  std::array<double, 3> sum{}, square{};
  double size = 0, log_norm = 0;
  for (const auto j : floating) {
    if (j >= count) continue;
    for (size_t part = 0; part < 3; ++part) {
      const double value = all[part][static_cast<size_t>(j)];
      sum[part] += value;
      square[part] += value * value;
    }
    log_norm += totals.logs[static_cast<size_t>(j)];
    size += 1;
  }
  const double others = static_cast<double>(count) - size;
  if (size == 0 || others <= 0) return out;
  std::array<double, 3> in{}, out_of{};
  for (size_t part = 0; part < 3; ++part) {
    in[part] = sum[part] / size;
    out_of[part] = (totals.sum[part] - sum[part]) / others;
    const double variance = (totals.square[part] - square[part]) / others - out_of[part] * out_of[part];
    // Below this the deviation is rounding of the float32 inputs, not spread.
    const bool spread = variance > 1e-12 * out_of[part] * out_of[part];
    out[kZDot + part] = spread ? (in[part] - out_of[part]) / std::sqrt(variance) : stats::kNan;
    out[kDotFloating + 2 * part] = in[part];
    out[kDotOther + 2 * part] = out_of[part];
    if (strongest >= 0 && strongest < count)
      out[kRankDot + part] = rank_share(all[part], all[part][static_cast<size_t>(strongest)]);
  }
  const auto [s_in, c_in, n_in] = in;
  const auto [s_out, c_out, n_out] = out_of;
  out[kFloatingColumns] = size;
  out[kAdvantage] = s_in - s_out;
  out[kScaleAtOthers] = (n_in - n_out) * c_out;
  out[kDirectionAtOthers] = n_out * (c_in - c_out);
  out[kBoth] = (n_in - n_out) * (c_in - c_out);
  out[kResidual] = (s_in - n_in * c_in) - (s_out - n_out * c_out);
  out[kScale] = (n_in - n_out) * (c_in + c_out) / 2;
  out[kDirection] = (c_in - c_out) * (n_in + n_out) / 2;
  out[kLogNorm] = log_norm / size - (totals.log_norm - log_norm) / others;
  if (s_in > 0 && s_out > 0 && c_in > 0 && c_out > 0 && n_in > 0 && n_out > 0) {
    out[kLogAdvantage] = std::log(s_in / s_out);
    out[kLogScale] = std::log(n_in / n_out);
    out[kLogDirection] = std::log(c_in / c_out);
  }
  return out;
}

}  // namespace buoy::analysis
