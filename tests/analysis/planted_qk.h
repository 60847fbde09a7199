#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/synthetic_trace.h"

namespace buoy::testing {

inline constexpr std::int64_t kQkTokens = 48, kQkHeads = 2, kQkSize = 8, kQkPrompt = 10;

// Who sees whom, and in how long a row.
struct QkDesign {
  std::string attention = "bidirectional";
  std::int64_t tokens = kQkTokens;
  std::int64_t floating_below = tokens;  // the floating key stands somewhere before it
};

// What the floating key of a layer is like, beside keys of norm 1 and cosine 0.3 (each within 5%).
struct PlantedKey {
  double norm = 1, cosine = 0.3;
};

struct QkVectors {
  std::vector<std::vector<double>> queries, keys;  // [tokens][kQkSize]
};

double dot(const std::vector<double>& a, const std::vector<double>& b);

// Whether a query sees a key, in a row whose prompt has kQkPrompt tokens.
bool sees_key(const std::string& attention, std::int64_t query, std::int64_t key);

// All queries point the same way, so a key's cosine is the same to each and lengths and angles can be planted
// exactly; the lengths of the queries vary.
QkVectors draw_vectors(Draws& draws, const PlantedKey& plant, std::int64_t floating,
                       std::int64_t tokens = kQkTokens);

// One floating key per sample, the same in all layers and heads, holding half of the attention.
SyntheticTrace plant_qk(const std::vector<PlantedKey>& layers, int samples, std::uint64_t seed,
                        const QkDesign& design = {});

}  // namespace buoy::testing
