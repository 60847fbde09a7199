#pragma once

#include <cstdint>
#include <vector>

#include "buoy/analysis/core/mask.h"
#include "buoy/analysis/core/reach.h"

namespace buoy::analysis {

// Attention received by each key when every query spreads evenly over the keys it sees, as shares that sum
// to one: 1/T if bidirectional; (H_T - H_j)/T for key j if causal, H_n the harmonic number; of a prefix of P,
// 1/T + (H_T - H_P)/T for its own keys. The null of every statement about received attention.
std::vector<double> uniform_received(const Mask& mask, std::int64_t tokens);

// The same for the queries [first, tokens) alone, and [first, end).
std::vector<double> uniform_received_from(const Mask& mask, std::int64_t tokens, std::int64_t first);
std::vector<double> uniform_received_between(const Mask& mask, std::int64_t tokens, std::int64_t first,
                                             std::int64_t end);

// The share of the queries [first, end) that see each key: the most attention it can receive.
std::vector<double> seen_between(const Mask& mask, std::int64_t tokens, std::int64_t first, std::int64_t end);

// Of one forward: of all queries that ran, and of some of them; [keys], those that exist.
std::vector<double> uniform_received(const Reach& reach);
std::vector<double> uniform_received_between(const Reach& reach, std::int64_t first, std::int64_t end);
std::vector<double> seen_between(const Reach& reach, std::int64_t first, std::int64_t end);

}  // namespace buoy::analysis
