#include "buoy/ops/moments/qk_moments.h"

#include <cmath>
#include <vector>

#include "buoy/base/error.h"

namespace buoy::ops {
namespace {

// Sums in double over the queries taken so far.
struct QuerySums {
  std::vector<double> vector, direction;  // [head_dim]
  double norm = 0;
  std::int64_t count = 0;

  explicit QuerySums(std::int64_t head_dim)
      : vector(static_cast<size_t>(head_dim), 0.0), direction(static_cast<size_t>(head_dim), 0.0) {}

  void add(const float* query, double query_norm) {
    const double inverse = query_norm > 0 ? 1.0 / query_norm : 0.0;
    for (size_t i = 0; i < vector.size(); ++i) {
      vector[i] += query[i];
      direction[i] += query[i] * inverse;
    }
    norm += query_norm;
    ++count;
  }
};

double dot(const float* a, const float* b, std::int64_t size) {
  double sum = 0;
  for (std::int64_t i = 0; i < size; ++i) sum += double{a[i]} * b[i];
  return sum;
}

double dot(const std::vector<double>& a, const float* b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void put(float* out, std::int64_t at, double value) {
  if (out != nullptr) out[at] = static_cast<float>(value);
}

void moments_of_head(const AttentionShape& shape, const AttentionSequence& s, const QkMoments& wanted,
                     std::int64_t head) {
  const std::int64_t dim = shape.head_dim, kv_head = head / (shape.heads / shape.kv_heads);
  const auto query = [&](std::int64_t row) { return s.queries + (row * shape.heads + head) * dim; };
  QuerySums sums(dim);
  // Seen from the last key to the first, the queries that see a key only become more.
  std::int64_t next = s.query_rows - 1;
  for (std::int64_t j = s.key_rows - 1; j >= 0; --j) {
    for (; next >= 0 && visible_end(shape, s, next) > j; --next) {
      const double norm = std::sqrt(dot(query(next), query(next), dim));
      put(wanted.query_norm, head * s.query_rows + next, norm);
      if (wanted.use_row == nullptr || wanted.use_row[next] != 0) sums.add(query(next), norm);
    }
    const float* key = s.keys + (j * shape.kv_heads + kv_head) * dim;
    const double key_norm = std::sqrt(dot(key, key, dim));
    const double per_query = sums.count > 0 ? 1.0 / static_cast<double>(sums.count) : 0.0;
    const std::int64_t at = head * s.key_rows + j;
    put(wanted.dot, at, dot(sums.vector, key) * per_query);
    put(wanted.cosine, at, key_norm > 0 ? dot(sums.direction, key) / key_norm * per_query : 0.0);
    put(wanted.norm_product, at, sums.norm * key_norm * per_query);
    const std::int64_t own_row = j - s.first_position;
    put(wanted.self_dot, at, own_row >= 0 && own_row < s.query_rows ? dot(query(own_row), key, dim) : 0.0);
  }
}

void norms(const float* states, std::int64_t rows, std::int64_t heads, std::int64_t dim, std::int64_t head,
           float* out) {
  for (std::int64_t row = 0; row < rows && out != nullptr; ++row) {
    const float* state = states + (row * heads + head) * dim;
    out[head * rows + row] = static_cast<float>(std::sqrt(dot(state, state, dim)));
  }
}

}  // namespace

void qk_moments(const Context& context, const AttentionShape& shape, const AttentionSequence& s,
                const QkMoments& wanted) {
  BUOY_CHECK(shape.heads % shape.kv_heads == 0 && shape.head_dim > 0);
  context.threads.run(shape.heads, [&](std::int64_t head, int) { moments_of_head(shape, s, wanted, head); });
  context.threads.run(shape.kv_heads, [&](std::int64_t head, int) {
    norms(s.keys, s.key_rows, shape.kv_heads, shape.head_dim, head, wanted.key_norm);
    norms(s.values, s.key_rows, shape.kv_heads, shape.head_dim, head, wanted.value_norm);
  });
}

}  // namespace buoy::ops
