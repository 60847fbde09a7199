#include "buoy/analysis/sample/stored_rows.h"

#include <fmt/format.h>

#include "buoy/base/error.h"
#include "buoy/base/quantised_row.h"
#include "buoy/trace/schema.h"

namespace buoy::analysis {

// What a sample of less than full says it has includes what was observed and is not kept.
StoredRows::StoredRows(const StoredSource& source)
    : source_(source),
      full_(source.stored().has(trace::kReceived)),
      heads_(source.stored().has(trace::kHeadCodes) && source.stored().has(trace::kHeadScales)),
      weights_(source.stored().has(trace::kRowWeights)),
      codes_(source.stored().has(trace::kRowCodes) && source.stored().has(trace::kRowScales)) {
  if (full_) return;
  if (!source.stored().has(trace::kMeanCodes)) source.received(0, 0);  // throws, and says what is lacking
  require_array(source.sample(), trace::kMeanScales);
}

std::vector<double> StoredRows::at(std::int64_t s, std::int64_t l) const {
  if (full_) {
    const Received received = source_.received(s, l);
    std::vector<double> rows = received.mean;
    rows.insert(rows.end(), received.share.begin(), received.share.end());
    return rows;
  }
  const std::int64_t place = source_.sample().place_of(s);
  auto rows = read_quantised(source_.stored(), trace::kMeanCodes, trace::kMeanScales, {place, l});
  if (heads_) {
    const auto heads = read_quantised(source_.stored(), trace::kHeadCodes, trace::kHeadScales, {place, l});
    rows.insert(rows.end(), heads.begin(), heads.end());
  }
  return rows;
}

std::vector<double> StoredRows::queries_at(std::int64_t s, std::int64_t l) const {
  const auto& sample = source_.sample();
  if (!weights_)
    return read_quantised(source_.stored(), trace::kRowCodes, trace::kRowScales, {sample.place_of(s), l});
  const auto weights =
      source_.stored().floats_at(trace::kRowWeights, {source_.sample().place_of(s), l});  // [R, H, T]
  const auto heads = static_cast<size_t>(sample.heads), tokens = static_cast<size_t>(sample.tokens);
  std::vector<double> out(sample.row_positions.size() * tokens, 0.0);
  for (size_t i = 0; i < weights.size(); ++i)
    out[i / (heads * tokens) * tokens + i % tokens] += static_cast<double>(weights[i]);
  for (auto& value : out) value /= static_cast<double>(heads);
  return out;
}

std::vector<double> read_quantised(const trace::StoredSample& sample, std::string_view codes,
                                   std::string_view scales, const std::vector<std::int64_t>& leading) {
  const auto numbers = sample.floats_at(scales, leading);
  const auto values = sample.integers_at(codes, leading);
  const std::vector<std::uint8_t> bytes(values.begin(), values.end());
  const size_t count = numbers.size() / kScaleNumbers;
  const size_t tokens = count == 0 ? 0 : bytes.size() / count;
  std::vector<double> rows(bytes.size());
  for (size_t row = 0; row < count; ++row) {
    const RowScale scale{numbers[kScaleNumbers * row], numbers[kScaleNumbers * row + 1]};
    // A row of nothing has no scale.
    if (scale.low > scale.high || (scale.low == 0 && scale.high > 0)) {
      throw_input_error({fmt::format("sample {}: {}", sample.id(), scales),
                         "two numbers for each row, the first above 0 and the second no less, or both 0",
                         fmt::format("{} and {}", scale.low, scale.high)});
    }
    read_quantised_row(scale, std::span(bytes).subspan(row * tokens, tokens),
                       std::span(rows).subspan(row * tokens, tokens));
  }
  return rows;
}

}  // namespace buoy::analysis
