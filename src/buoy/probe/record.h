#pragma once

#include <cstdint>
#include <vector>

#include "buoy/probe/residual.h"

namespace buoy::probe {

// What one layer's attention worked on. Valid during Probe::take only.
struct LayerStates {
  std::int64_t query_rows = 0;
  std::int64_t key_rows = 0;
  std::int64_t first_position = 0;  // of query row 0
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  bool causal = false;             // a query sees no key behind itself ...
  std::int64_t prefix = 0;         // ... but those of the first `prefix` positions
  const float* queries = nullptr;  // [query_rows, heads, head_dim], after norm and rotation
  const float* keys = nullptr;     // [key_rows, kv_heads, head_dim], likewise
  const float* values = nullptr;   // [key_rows, kv_heads, head_dim]
};

// Column means of queries meeting keys, each [heads, keys].
struct QkRecord {
  std::vector<float> dot;           // mean of q.k, not divided by sqrt(head_dim)
  std::vector<float> cosine;        // mean of cos(q, k)
  std::vector<float> norm_product;  // mean of |q||k|
  std::vector<float> self_dot;      // q.k of a position with itself
};

// What the model expects at each row that was asked about, from all logits of the row (softmax at
// temperature 1, whatever the decoding does with them).
struct PredictionRecord {
  std::vector<float> confidence;         // [rows], of the held token, or of the most probable one
  std::vector<float> entropy;            // [rows], nats
  std::vector<float> margin;             // [rows], between the two most probable tokens
  std::vector<std::int32_t> top_tokens;  // [rows, top], most probable first, -1: no more
  std::vector<float> top_probabilities;  // [rows, top]
};

// What a layer's router decided for every row. In a layer without experts, of a model that has some: -1 and
// zeros. Of other models: nothing.
struct RoutingRecord {
  std::vector<std::int32_t> experts;  // [rows, chosen], best first
  std::vector<float> weights;         // [rows, chosen], on what the experts return
  std::vector<float> entropy;         // [rows], nats, of the router's distribution over all experts
  std::vector<std::int32_t> load;     // [experts], rows that chose each
};

// What was asked for at one address; the rest is empty.
struct LayerRecord {
  LayerStates states;                  // sizes always, pointers when asked
  std::vector<float> received;         // [groups, heads, keys], sums over the group's queries
  std::vector<float> followed;         // [heads, keys], sums over the followed rows
  std::vector<float> entropy;          // [heads, queries]
  std::vector<float> log_sum_exp;      // [heads, queries]
  std::vector<float> first_share;      // [heads, queries]
  std::vector<float> row_weights;      // [rows, heads, keys]
  std::vector<float> row_mass;         // [rows, heads, sets]
  std::vector<float> group_mass;       // [groups, heads, sets]
  std::vector<std::int32_t> top_keys;  // [rows, heads, top], -1: no more
  std::vector<float> top_weights;      // [rows, heads, top]
  QkRecord qk_after, qk_before;
  std::vector<float> query_norm;  // [heads, queries]
  std::vector<float> key_norm;    // [kv_heads, keys]
  std::vector<float> value_norm;  // [kv_heads, keys]
  std::vector<float> head_norm;   // [heads, queries]
  // [kv_heads, keys]; 1 where there is no forward before.
  std::vector<float> key_cosine, value_cosine;
  std::vector<float> dense;       // [heads, queries, keys]
  std::vector<float> dense_mean;  // [queries, keys]
  ResidualRecord residual;
  RoutingRecord routing;
  PredictionRecord predictions;  // alone, in a record whose layer is kWholeForward
};

}  // namespace buoy::probe
