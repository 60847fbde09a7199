#include "buoy/model/predictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "buoy/base/error.h"
#include "buoy/ops/sampling/prediction.h"

namespace buoy::model {
namespace {

void check(const probe::PredictionRequest& request, std::int64_t rows, std::int64_t vocabulary) {
  BUOY_CHECK(request.held.size() == request.rows.size() && request.top >= 0);
  for (const auto row : request.rows) BUOY_CHECK(row >= 0 && row < rows);
  for (const auto token : request.held) {
    if (token >= probe::PredictionRequest::kMostProbable && token < vocabulary) continue;
    throw_usage_error({"held token", fmt::format("0 to {}, or -1", vocabulary - 1), std::to_string(token)});
  }
}

}  // namespace

Predictions::Predictions(const PackedBatch& batch, const ModelConfig& config, probe::Probe* probe) {
  if (probe == nullptr) return;
  for (size_t n = 0; n < batch.sequences.size(); ++n) {
    const SequenceInput& input = batch.sequences[n];
    Sequence sequence{input.address, std::ssize(rows_), 0, {}};
    sequence.address.layer = probe::kWholeForward;
    const auto request =
        probe->predictions(sequence.address, {input.rows(), input.key_rows(), config.heads, input.tokens});
    if (!request.any()) continue;
    check(request, input.rows(), config.vocabulary);
    sequence.top = request.top;
    most_top_ = std::max(most_top_, request.top);
    const size_t count = request.rows.size(), named = count * static_cast<size_t>(request.top);
    auto& record = sequence.record.predictions;
    record.confidence.resize(count);
    record.entropy.resize(count);
    record.margin.resize(count);
    record.top_tokens.resize(named);
    record.top_probabilities.resize(named);
    for (size_t i = 0; i < count; ++i) {
      rows_.push_back({batch.first_rows[n] + request.rows[i], request.held[i]});
      sequence_of_row_.push_back(static_cast<std::int32_t>(sequences_.size()));
    }
    sequences_.push_back(std::move(sequence));
  }
}

Predictions::Place Predictions::place_of(std::int64_t row) {
  Sequence& sequence = sequences_[static_cast<size_t>(sequence_of_row_[static_cast<size_t>(row)])];
  return {sequence, row - sequence.first_row};
}

void Predictions::measure(std::int64_t row, std::span<const float> logits) {
  const auto [sequence, at] = place_of(row);
  auto& record = sequence.record.predictions;
  const auto first = static_cast<size_t>(at * sequence.top), count = static_cast<size_t>(sequence.top);
  const auto p = ops::predict_row(logits, rows_[static_cast<size_t>(row)].held,
                                  std::span(record.top_tokens).subspan(first, count),
                                  std::span(record.top_probabilities).subspan(first, count));
  record.confidence[static_cast<size_t>(at)] = static_cast<float>(p.confidence);
  record.entropy[static_cast<size_t>(at)] = static_cast<float>(p.entropy);
  record.margin[static_cast<size_t>(at)] = static_cast<float>(p.margin);
}

void Predictions::put(std::int64_t row, std::span<const float, 3> values,
                      std::span<const std::int32_t> tokens, std::span<const float> probabilities) {
  const auto [sequence, at] = place_of(row);
  auto& record = sequence.record.predictions;
  record.confidence[static_cast<size_t>(at)] = values[0];
  record.entropy[static_cast<size_t>(at)] = values[1];
  record.margin[static_cast<size_t>(at)] = values[2];
  std::copy_n(tokens.begin(), sequence.top, record.top_tokens.begin() + at * sequence.top);
  std::copy_n(probabilities.begin(), sequence.top, record.top_probabilities.begin() + at * sequence.top);
}

void Predictions::hand_over(probe::Probe& probe) {
  for (auto& sequence : sequences_) probe.take(sequence.address, std::move(sequence.record));
}

PredictedLogits::PredictedLogits(const PackedBatch& batch, const Predictions& predictions) {
  if (!predictions.any()) return;
  std::map<std::int64_t, std::int64_t> there;
  for (std::int64_t i = 0; i < std::ssize(batch.logit_rows); ++i)
    there.emplace(batch.logit_rows[static_cast<size_t>(i)], i);
  const std::int64_t wanted = std::ssize(batch.logit_rows);
  for (const auto& row : predictions.rows()) {
    const auto [place, fresh] = there.emplace(row.packed, wanted + std::ssize(extra));
    if (fresh) extra.push_back(row.packed);
    logits_row.push_back(place->second);
  }
}

}  // namespace buoy::model
