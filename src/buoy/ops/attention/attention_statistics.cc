#include "buoy/ops/attention/attention_statistics.h"

#include "buoy/base/error.h"
#include "buoy/ops/attention/attention_statistics_cpu.h"

namespace buoy::ops {

void attention_statistics(const Context& context, const AttentionShape& shape,
                          const AttentionSequence& sequence, const AttentionStatistics& wanted) {
  BUOY_CHECK(sequence.row_top != nullptr && sequence.row_sum != nullptr);
  BUOY_CHECK(wanted.groups >= 1 && wanted.groups <= 255 && wanted.top >= 0);
  for (size_t i = 0; i < wanted.rows.size(); ++i) {
    BUOY_CHECK(wanted.rows[i] >= 0 && wanted.rows[i] < sequence.query_rows);
    BUOY_CHECK(i == 0 || wanted.rows[i - 1] < wanted.rows[i]);
  }
  attention_statistics_cpu(context, shape, sequence, wanted);
}

}  // namespace buoy::ops
