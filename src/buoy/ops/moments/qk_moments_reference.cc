#include <cmath>

#include "buoy/ops/moments/qk_moments.h"

namespace buoy::ops {

void qk_moments_reference(const AttentionShape& shape, const AttentionSequence& s, const QkMoments& wanted,
                          const ReferenceQkMoments& out) {
  for (std::int64_t head = 0; head < shape.heads; ++head) {
    const std::int64_t kv_head = head / (shape.heads / shape.kv_heads);
    for (std::int64_t j = 0; j < s.key_rows; ++j) {
      const float* k = s.keys + (j * shape.kv_heads + kv_head) * shape.head_dim;
      double sum_dot = 0, sum_cosine = 0, sum_product = 0, count = 0;
      for (std::int64_t row = 0; row < s.query_rows; ++row) {
        if (visible_end(shape, s, row) <= j) continue;
        if (wanted.use_row != nullptr && wanted.use_row[row] == 0) continue;
        const float* q = s.queries + (row * shape.heads + head) * shape.head_dim;
        double qk = 0, qq = 0, kk = 0;
        for (std::int64_t i = 0; i < shape.head_dim; ++i) {
          qk += double{q[i]} * k[i];
          qq += double{q[i]} * q[i];
          kk += double{k[i]} * k[i];
        }
        const double product = std::sqrt(qq) * std::sqrt(kk);
        sum_dot += qk;
        sum_cosine += product > 0 ? qk / product : 0.0;
        sum_product += product;
        count += 1;
      }
      const std::int64_t at = head * s.key_rows + j;
      out.dot[at] = count > 0 ? sum_dot / count : 0.0;
      out.cosine[at] = count > 0 ? sum_cosine / count : 0.0;
      out.norm_product[at] = count > 0 ? sum_product / count : 0.0;
    }
  }
}

}  // namespace buoy::ops
