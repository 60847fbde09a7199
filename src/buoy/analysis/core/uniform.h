#pragma once

#include <cstdint>
#include <vector>

namespace buoy::analysis {

// Attention received by each key when every query spreads evenly over the keys it sees, as shares that sum
// to one: 1/T if bidirectional; (H_T - H_j)/T for key j if causal, H_n the harmonic number. The null of every
// statement about received attention.
std::vector<double> uniform_received(bool causal, std::int64_t tokens);

// The same for the queries [first, tokens) alone, and [first, end).
std::vector<double> uniform_received_from(bool causal, std::int64_t tokens, std::int64_t first);
std::vector<double> uniform_received_between(bool causal, std::int64_t tokens, std::int64_t first,
                                             std::int64_t end);

// The share of the queries [first, tokens) that see each key: the most attention it can receive.
std::vector<double> seen_from(bool causal, std::int64_t tokens, std::int64_t first);

}  // namespace buoy::analysis
