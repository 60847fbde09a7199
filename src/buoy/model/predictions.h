#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "buoy/checkpoint/config.h"
#include "buoy/model/packed_batch.h"
#include "buoy/probe/probe.h"

namespace buoy::model {

// What a probe wants to know of the logits of one packed forward.
class Predictions {
 public:
  // Asks about every sequence; without a probe nothing is wanted.
  Predictions(const PackedBatch& batch, const ModelConfig& config, probe::Probe* probe);

  bool any() const { return !sequences_.empty(); }
  std::int64_t most_top() const { return most_top_; }

  // One row that is wanted, in the order of the sequences and of their requests.
  struct Row {
    std::int64_t packed;  // number among the rows of the batch
    std::int32_t held;
  };
  const std::vector<Row>& rows() const { return rows_; }

  // From the logits of that row.
  void measure(std::int64_t row, std::span<const float> logits);
  // From what a device made of it, tokens and probabilities [most_top()].
  void put(std::int64_t row, std::span<const float, 3> values, std::span<const std::int32_t> tokens,
           std::span<const float> probabilities);
  void hand_over(probe::Probe& probe);

 private:
  struct Sequence {
    probe::Address address;
    std::int64_t first_row, top;
    probe::LayerRecord record;
  };
  struct Place {
    Sequence& sequence;
    std::int64_t row;  // of its record
  };
  Place place_of(std::int64_t row);

  std::vector<Sequence> sequences_;
  std::vector<Row> rows_;
  std::vector<std::int32_t> sequence_of_row_;
  std::int64_t most_top_ = 0;
};

// Which logits there will be: those that were wanted anyway, then those of rows that only predictions need,
// each once.
struct PredictedLogits {
  PredictedLogits(const PackedBatch& batch, const Predictions& predictions);

  std::vector<std::int64_t> extra;       // packed rows
  std::vector<std::int64_t> logits_row;  // [rows of the predictions]: into the wanted ones, then `extra`
};

}  // namespace buoy::model
