#pragma once

#include <cstdint>
#include <limits>
#include <ostream>
#include <vector>

#include "buoy/base/random.h"
#include "buoy/ops/attention/attention_statistics.h"
#include "ops/attention_data.h"

namespace buoy::ops {

using buoy::testing::kHidden;

struct Case {
  std::int64_t queries, keys, heads, kv_heads, dim;
  AttentionMask mask;
  bool bias;
  std::int64_t prefix = 0;
};

inline void PrintTo(const Case& c, std::ostream* out) {
  *out << c.queries << " queries, " << c.keys << " keys, heads " << c.heads << ":" << c.kv_heads << " of "
       << c.dim << ", mask " << static_cast<int>(c.mask.kind) << (c.bias ? ", biased" : "");
  if (c.mask.kind == MaskKind::kPrefix) *out << ", prefix " << c.prefix;
}

inline std::vector<float> draws(std::uint64_t seed, std::int64_t count, double scale) {
  std::vector<float> out(static_cast<size_t>(count));
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] =
        static_cast<float>(scale * normal(seed, {DrawStream::kWeights, 0, 0, static_cast<std::uint32_t>(i)}));
  }
  return out;
}

// One random sequence with its attention computed.
struct Attended {
  explicit Attended(const Case& c, int thread_count = 2)
      : threads(thread_count),
        shape{c.heads, c.kv_heads, c.dim, c.mask},
        queries(draws(1, c.queries * c.heads * c.dim, 1.5)),
        keys(draws(2, c.keys * c.kv_heads * c.dim, 1.0)),
        values(draws(3, c.keys * c.kv_heads * c.dim, 1.0)),
        bias(draws(4, c.keys * c.heads, 1.0)),
        output(queries.size()),
        top(static_cast<size_t>(c.heads * c.queries)),
        sum(top.size()) {
    for (size_t i = 0; i < bias.size(); i += 3) bias[i] = kHidden;
    sequence = {.queries = queries.data(),
                .query_rows = c.queries,
                .first_position = c.keys - c.queries,
                .keys = keys.data(),
                .values = values.data(),
                .key_rows = c.keys,
                .key_bias = c.bias ? bias.data() : nullptr,
                .output = output.data(),
                .row_top = top.data(),
                .row_sum = sum.data(),
                .key_bias_stride = c.keys,
                .head_scale = nullptr,
                .prefix = c.prefix};
    attention({threads}, shape, {&sequence, 1}, scratch);
  }

  ThreadPool threads;
  AttentionShape shape;
  std::vector<float> queries, keys, values, bias, output, top, sum;
  AttentionSequence sequence{};
  AttentionScratch scratch;
};

}  // namespace buoy::ops
