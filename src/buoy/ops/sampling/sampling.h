#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace buoy::ops {

// Choosing from one row of logits. Everything is in double and in token order; ties go to the lower id,
// so two machines that agree on the logits agree on the token.

size_t argmax(std::span<const float> logits);
size_t argmax(std::span<const double> values);

double log_sum_exp(std::span<const float> logits);
std::vector<double> softmax(std::span<const double> logits);  // exp(-inf) is exactly 0

// Dropped entries become minus infinity.
void keep_top_k(std::vector<double>& logits, std::int64_t k);  // everything >= the k-th largest stays
// Dream's rule: an entry goes when the entries above it already hold more than p.
void keep_top_p_above(std::vector<double>& logits, double p);
// transformers' rule: entries go from the smallest while they hold at most 1 - p together; one stays.
void keep_top_p_below(std::vector<double>& logits, double p);

// The entry a draw u in [0, 1) falls on.
size_t categorical(std::span<const double> probabilities, double u);

}  // namespace buoy::ops
