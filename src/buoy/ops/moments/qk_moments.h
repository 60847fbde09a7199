#pragma once

#include <cstdint>

#include "buoy/ops/attention/attention.h"

namespace buoy::ops {

// How queries and keys meet, before any softmax: for every key column the mean over the queries that see
// it of q.k, of cos(q, k) and of |q||k|. Each is linear in a quantity of the query alone, so one (suffix)
// sum over the queries serves all columns: time O(tokens x head_dim), no pair is ever formed.
struct QkMoments {
  const std::uint8_t* use_row = nullptr;  // [query_rows], non-zero for queries to take; null: all

  // [heads, key_rows], null when not wanted; 0 in a column that no chosen query sees.
  float* dot = nullptr;           // mean of q.k, not divided by sqrt(head_dim)
  float* cosine = nullptr;        // mean of cos(q, k)
  float* norm_product = nullptr;  // mean of |q||k|
  float* self_dot = nullptr;      // q_j.k_j of the query at the key's own position, for taking self pairs out

  float* query_norm = nullptr;  // [heads, query_rows]
  float* key_norm = nullptr;    // [kv_heads, key_rows]
  float* value_norm = nullptr;  // [kv_heads, key_rows]
};

// Uses queries, keys, values and the mask of the sequence; a zero vector has no direction and counts as
// cosine 0.
void qk_moments(const Context& context, const AttentionShape& shape, const AttentionSequence& sequence,
                const QkMoments& wanted);

struct ReferenceQkMoments {
  double* dot;           // [heads, key_rows]
  double* cosine;        // [heads, key_rows]
  double* norm_product;  // [heads, key_rows]
};

// Over all pairs, in double.
void qk_moments_reference(const AttentionShape& shape, const AttentionSequence& sequence,
                          const QkMoments& wanted, const ReferenceQkMoments& out);

}  // namespace buoy::ops
