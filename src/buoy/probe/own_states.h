#pragma once

#include <cstdint>
#include <vector>

#include "buoy/probe/record.h"

namespace buoy::probe {

// Vectors that a record points at belong to the model only while it is handed over: these are a copy.
struct OwnStates {
  std::vector<float> queries, keys, values;

  // `states` points at the copy from now on.
  void copy(LayerStates& states) {
    for_each(states, [](const float*& from, std::vector<float>& to, std::int64_t count) {
      to.assign(from, from + count);
      from = to.data();
    });
  }
  // `states` points at these, in place of wherever it pointed.
  void show(LayerStates& states) const {
    if (states.queries != nullptr) states.queries = queries.data();
    if (states.keys != nullptr) states.keys = keys.data();
    if (states.values != nullptr) states.values = values.data();
  }
  // Calls visit(pointer, its list here, numbers) of those that are there.
  template <typename Visit>
  void for_each(LayerStates& states, const Visit& visit) {
    const auto one = [&](const float*& from, std::vector<float>& own, std::int64_t count) {
      if (from != nullptr) visit(from, own, count);
    };
    one(states.queries, queries, states.query_rows * states.heads * states.head_dim);
    one(states.keys, keys, states.key_rows * states.kv_heads * states.head_dim);
    one(states.values, values, states.key_rows * states.kv_heads * states.head_dim);
  }
  std::uint64_t bytes() const { return (queries.size() + keys.size() + values.size()) * sizeof(float); }
};

}  // namespace buoy::probe
