#pragma once

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "buoy/ops/sampling/prediction.h"
#include "model/golden_run.h"

namespace buoy::testing {

// Asks for predictions of the same rows of every sequence, and nothing of layers.
class PredictingProbe final : public probe::Probe {
 public:
  PredictingProbe(Ids rows, Ids held, std::int64_t top) : wanted{std::move(rows), std::move(held), top} {}

  probe::LayerRequest request(const probe::Address&, const probe::LayerExtent&) override { return {}; }
  probe::PredictionRequest predictions(const probe::Address& address, const probe::LayerExtent&) override {
    EXPECT_EQ(address.layer, probe::kWholeForward);
    return wanted;
  }
  void take(const probe::Address& address, probe::LayerRecord&& record) override {
    EXPECT_EQ(address.layer, probe::kWholeForward);
    taken[address.sequence] = std::move(record.predictions);
  }

  const probe::PredictionRequest wanted;
  std::map<std::int64_t, probe::PredictionRecord> taken;  // by sequence
};

// What was measured against the reference in double, from logits of every row. `slack`: what single
// probabilities may be off by, for logits that were computed another way; 0: tokens too must be the same.
inline void expect_predictions(const probe::PredictionRecord& found, const PredictingProbe& probe,
                               const std::vector<float>& logits, double slack) {
  const auto& [rows, held, top] = probe.wanted;
  ASSERT_EQ(found.confidence.size(), rows.size());
  ASSERT_EQ(found.top_tokens.size(), rows.size() * static_cast<size_t>(top));
  const size_t sequence_rows = 1 + static_cast<size_t>(*std::max_element(rows.begin(), rows.end()));
  ASSERT_EQ(logits.size() % sequence_rows, 0u) << "the last row is asked about";
  const size_t vocabulary = logits.size() / sequence_rows;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto first = logits.begin() + static_cast<std::int64_t>(static_cast<size_t>(rows[i]) * vocabulary);
    const std::vector<double> row(first, first + static_cast<std::int64_t>(vocabulary));
    std::vector<std::int32_t> tokens(static_cast<size_t>(top));
    std::vector<double> probabilities(static_cast<size_t>(top));
    const auto expected = ops::predict_row_reference(row, held[i], tokens, probabilities);
    EXPECT_NEAR(found.confidence[i], expected.confidence, 1e-7 + slack) << "row " << rows[i];
    EXPECT_NEAR(found.entropy[i], expected.entropy, (1e-6 + 10 * slack) * (1 + expected.entropy));
    EXPECT_NEAR(found.margin[i], expected.margin, 1e-7 + 2 * slack) << "row " << rows[i];
    for (size_t k = 0; k < tokens.size(); ++k) {
      const size_t at = i * tokens.size() + k;
      if (slack == 0) {
        EXPECT_EQ(found.top_tokens[at], tokens[k]) << "row " << rows[i] << ", token " << k;
      }
      EXPECT_NEAR(found.top_probabilities[at], probabilities[k], 1e-7 + slack) << "row " << rows[i];
    }
  }
}

}  // namespace buoy::testing
