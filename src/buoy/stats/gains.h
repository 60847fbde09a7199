#pragma once

#include <optional>
#include <span>
#include <vector>

#include "buoy/stats/paired_bootstrap.h"

namespace buoy::stats {

// The RAG gain of one model: what passages add to its mean score, item by item on the same items.
struct ModelScores {
  std::span<const double> with_passages;
  std::span<const double> closed_book;
};

Estimate rag_gain(const ModelScores& model, const BootstrapOptions& options);
// The gain of a kind of models: the mean of their gains, on the same items.
Estimate rag_gain(std::span<const ModelScores> kind, const BootstrapOptions& options);

struct GainRatio {
  Estimate numerator;    // gain of the one kind
  Estimate denominator;  // gain of the other
  // Nothing when the denominator's interval holds zero: the ratio could then be anything, also infinite, and
  // no interval for it would mean what it says.
  std::optional<Estimate> ratio;
};

// gain(numerator) / gain(denominator), both over the same items and the same resamples; where both kinds have
// one model and its scores are 0 or 1, by ratio_interval(), since resamples of items that all agree show no
// doubt.
GainRatio gain_ratio(std::span<const ModelScores> numerator, std::span<const ModelScores> denominator,
                     const BootstrapOptions& options);

}  // namespace buoy::stats
