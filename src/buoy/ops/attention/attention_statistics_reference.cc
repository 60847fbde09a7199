#include <cmath>
#include <vector>

#include "buoy/ops/attention/attention_statistics.h"

namespace buoy::ops {

void attention_statistics_reference(const AttentionShape& shape, const AttentionSequence& s,
                                    const AttentionStatistics& wanted, const ReferenceStatistics& out) {
  const std::int64_t heads = shape.heads, rows = s.query_rows, keys = s.key_rows;
  std::vector<double> p(static_cast<size_t>(heads * rows * keys)), lse(static_cast<size_t>(heads * rows));
  attention_reference(shape, s, {nullptr, p.data(), lse.data()});
  if (out.received != nullptr) std::fill_n(out.received, wanted.groups * heads * keys, 0.0);
  for (std::int64_t head = 0; head < heads; ++head) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const double* weights = p.data() + (head * rows + row) * keys;
      const std::int64_t group = wanted.group_of_row != nullptr ? wanted.group_of_row[row] : 0;
      double entropy = 0;
      for (std::int64_t j = 0; j < keys; ++j) {
        if (weights[j] > 0) entropy -= weights[j] * std::log(weights[j]);
        if (out.received != nullptr && group < wanted.groups)
          out.received[(group * heads + head) * keys + j] += weights[j];
      }
      if (out.entropy != nullptr) out.entropy[head * rows + row] = entropy;
      if (out.log_sum_exp != nullptr)
        out.log_sum_exp[head * rows + row] = lse[static_cast<size_t>(head * rows + row)];
    }
  }
}

}  // namespace buoy::ops
