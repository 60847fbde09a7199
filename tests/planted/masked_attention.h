#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/synthetic_trace.h"

namespace buoy::testing {

// A kind of network: what its queries see, and which row writes a token.
struct Arm {
  const char *label, *attention;
  bool masked_diffusion;
  std::int64_t offset;  // the row that writes position p is p - offset

  // The keys of a query are [0, keys).
  std::int64_t keys_of(std::int64_t query, std::int64_t prompt, std::int64_t tokens) const;
};

inline constexpr Arm kArms[] = {{"full_masked", "bidirectional", true, 0},
                                {"causal_masked", "causal", true, 0},
                                {"causal_next", "causal", false, 1},
                                {"prefix_next", "prefix", false, 1}};

// One row of attention on its way into a trace.
struct AttentionRow {
  std::int64_t sample, step, layer, head, query;
  bool finished;  // the forward sees the finished row
};

// A trace whose whole attention matrices are given. Everything that Buoy would store of it is summed here
// from single rows: received attention by query groups, the mass of rows that write the answer, texts, end
// tokens, states of slots. Slots are revealed from the left, as many at each step; then comes a look at the
// finished row.
struct MaskedAttention {
  Arm arm = kArms[0];
  std::int64_t samples = 3, steps = 2, layers = 2, heads = 2;
  std::vector<std::pair<std::string, std::int64_t>> pieces;  // regions in their order; "answer" is the last
  std::int64_t padding = 0;                                  // slots of the answer that hold end tokens
  std::string gold = {};                                     // a region
  std::function<std::string(std::int64_t)> text = {};        // of a position; nothing: words
  // Weights of the keys that the query sees, all zero before; they are scaled to 1.
  std::function<void(const AttentionRow&, std::span<double>)> weights;

  std::int64_t tokens() const;
  std::int64_t prompt() const;
  std::pair<std::int64_t, std::int64_t> span_of(const std::string& region) const;  // [begin, end)
  SyntheticTrace trace() const;
  // The weights of a row as the trace has them; [keys].
  std::vector<double> row(const AttentionRow& at) const;
};

// Gives the keys in [begin, end) `lift` times what even attention would give them, the keys in `kept` exactly
// that, and the rest of the row to all others evenly. Rows that see none of the others get even attention.
struct Lifted {
  std::function<bool(std::int64_t)> chosen, kept;
  double lift = 1;
};
void lift_keys(const Lifted& lifted, std::span<double> weights);

}  // namespace buoy::testing
