#include "buoy/ops/attention/attention_statistics_cpu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "buoy/ops/attention/attention_statistics_cpu.cc"
#include <hwy/foreach_target.h>
// foreach_target must come first.
#include <hwy/highway.h>

#include <numeric>
#include <vector>

#include "buoy/ops/attention/attention_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace buoy::ops::HWY_NAMESPACE {

// What becomes of the weights of one row and one block of keys.
struct Weighed {
  float* row;   // scores in; weights out when `keep`
  float* sums;  // the weights are added here, unless null
  bool keep;
};

// Normalised weights from the scores of one row; returns the sum of weight * (score - top), the part of the
// entropy that depends on the keys. Hidden keys weigh exactly 0.
template <bool kAdd, bool kKeep>
HWY_INLINE double weigh(float* HWY_RESTRICT row, float* HWY_RESTRICT sums, size_t padded, float top,
                        float sum) {
  const F32 df;
  const auto tops = hn::Set(df, top), inverse = hn::Set(df, 1.0f / sum);
  auto spread = hn::Zero(df);
  for (size_t j = 0; j < padded; j += lanes()) {
    const auto below = hn::Sub(hn::LoadU(df, row + j), tops), clamped = clamp_exponent(below);
    const auto weight = hn::Mul(exp_nonpositive(below, clamped), inverse);
    spread = hn::MulAdd(weight, clamped, spread);
    if constexpr (kAdd) hn::StoreU(hn::Add(hn::LoadU(df, sums + j), weight), df, sums + j);
    if constexpr (kKeep) hn::StoreU(weight, df, row + j);
  }
  return hn::GetLane(hn::SumOfLanes(df, spread));
}

HWY_INLINE double weigh(const Weighed& w, size_t padded, float top, float sum) {
  if (w.sums == nullptr) return weigh<false, true>(w.row, nullptr, padded, top, sum);
  return w.keep ? weigh<true, true>(w.row, w.sums, padded, top, sum)
                : weigh<true, false>(w.row, w.sums, padded, top, sum);
}

// Sums of one head's columns by group. A block of rows is added in float, blocks in double.
class ColumnSums {
 public:
  ColumnSums(size_t groups, size_t keys)
      : keys_(keys),
        totals_(groups * keys, 0.0),
        block_(groups * kScoreStride, 0.0f),
        touched_(groups, false) {}

  // Where the weights of a row of this group are added.
  float* block(size_t group) {
    touched_[group] = true;
    return block_.data() + group * kScoreStride;
  }

  void flush(size_t first_key, size_t count) {
    for (size_t g = 0; g < touched_.size(); ++g) {
      if (!touched_[g]) continue;
      float* block = block_.data() + g * kScoreStride;
      double* total = totals_.data() + g * keys_ + first_key;
      for (size_t j = 0; j < count; ++j) total[j] += block[j];
      std::fill_n(block, kScoreStride, 0.0f);
      touched_[g] = false;
    }
  }

  double total(size_t group, size_t key) const { return totals_[group * keys_ + key]; }

 private:
  size_t keys_;
  std::vector<double> totals_;  // [groups, keys]
  std::vector<float> block_;    // [groups, kScoreStride]
  std::vector<bool> touched_;
};

void write_top(const float* weights, size_t keys, size_t top, std::int32_t* top_keys, float* top_weights) {
  std::vector<std::int32_t> order(keys);
  std::iota(order.begin(), order.end(), 0);
  const size_t kept = std::min(top, keys);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                    [&](std::int32_t a, std::int32_t b) {
                      return weights[a] != weights[b] ? weights[a] > weights[b] : a < b;
                    });
  for (size_t n = 0; n < top; ++n) {
    const bool there = n < kept && weights[order[n]] > 0;
    if (top_keys != nullptr) top_keys[n] = there ? order[n] : -1;
    if (top_weights != nullptr) top_weights[n] = there ? weights[order[n]] : 0.0f;
  }
}

struct HeadPass {
  const AttentionShape& shape;
  const AttentionSequence& s;
  const AttentionStatistics& wanted;
  size_t head;
  size_t heads, query_rows, key_rows;

  void run() const {
    const Layout layout = layout_of(shape, key_rows);
    const size_t kv_head = head / static_cast<size_t>(shape.heads / shape.kv_heads);
    Buffer<float> keys(layout.keys_per_head), queries(kQueryBlock * layout.head_dim);
    Buffer<float> scores(kQueryBlock * kScoreStride);
    for (size_t block = 0; block * kKeyBlock < key_rows; ++block) {
      pack_keys(shape, s, layout, kv_head, block, keys.data() + key_block_at(layout, block));
    }
    const size_t groups = static_cast<size_t>(wanted.groups);
    ColumnSums sums(wanted.received != nullptr ? groups : 0, key_rows);
    const bool keep_rows = wanted.row_weights != nullptr || wanted.top > 0;
    std::vector<float> kept(keep_rows ? wanted.rows.size() * key_rows : 0, 0.0f);
    size_t next_kept = 0;
    for (size_t block = 0; block * kQueryBlock < query_rows; ++block) {
      const QueryBlock q = query_block(shape, s, head, block);
      size_t end_kept = next_kept;
      while (end_kept < wanted.rows.size() && static_cast<size_t>(wanted.rows[end_kept]) < q.first + q.rows)
        ++end_kept;
      bool kept_row[kQueryBlock] = {};
      for (size_t n = next_kept; n < end_kept && keep_rows; ++n)
        kept_row[static_cast<size_t>(wanted.rows[n]) - q.first] = true;
      double spread[kQueryBlock] = {};
      pack_queries(shape, s, layout, q, queries.data());
      for (size_t first_key = 0; first_key < q.last_key; first_key += kKeyBlock) {
        const size_t count = std::min(kKeyBlock, q.last_key - first_key);
        const size_t padded =
            score_block(s, layout, q, queries.data(), keys.data(), first_key, scores.data());
        for (size_t r = 0; r < q.rows; ++r) {
          float* row = scores.data() + r * kScoreStride;
          const size_t number = head * query_rows + q.first + r;
          if (!(s.row_sum[number] > 0)) continue;
          const size_t group = wanted.group_of_row != nullptr ? wanted.group_of_row[q.first + r] : 0;
          const bool add = wanted.received != nullptr && group < groups;
          const bool keep = kept_row[r] || (wanted.first_share != nullptr && first_key == 0);
          spread[r] += weigh({row, add ? sums.block(group) : nullptr, keep}, padded, s.row_top[number],
                             s.row_sum[number]);
          if (wanted.first_share != nullptr && first_key == 0) wanted.first_share[number] = row[0];
        }
        for (size_t n = next_kept; n < end_kept && keep_rows; ++n) {
          const size_t r = static_cast<size_t>(wanted.rows[n]) - q.first;
          if (!(s.row_sum[head * query_rows + q.first + r] > 0)) continue;
          std::copy_n(scores.data() + r * kScoreStride, count, kept.data() + n * key_rows + first_key);
        }
        if (wanted.received != nullptr) sums.flush(first_key, count);
      }
      next_kept = end_kept;
      finish_rows(q, spread);
    }
    if (wanted.received != nullptr) {
      for (size_t g = 0; g < groups; ++g) {
        float* out = wanted.received + (g * heads + head) * key_rows;
        for (size_t j = 0; j < key_rows; ++j) out[j] = static_cast<float>(sums.total(g, j));
      }
    }
    for (size_t n = 0; n < wanted.rows.size() && keep_rows; ++n) {
      const float* weights = kept.data() + n * key_rows;
      const size_t at = n * heads + head;
      if (wanted.row_weights != nullptr) std::copy_n(weights, key_rows, wanted.row_weights + at * key_rows);
      const size_t top = static_cast<size_t>(wanted.top);
      if (top > 0) {
        write_top(weights, key_rows, top, wanted.top_keys != nullptr ? wanted.top_keys + at * top : nullptr,
                  wanted.top_weights != nullptr ? wanted.top_weights + at * top : nullptr);
      }
    }
  }

  // With t = score - top and z = sum of exp(t): lse = top + ln z, entropy = ln z - sum of weight * t. A row
  // that sees nothing has entropy 0 and log-sum-exp minus infinity.
  void finish_rows(const QueryBlock& q, const double* spread) const {
    for (size_t r = 0; r < q.rows; ++r) {
      const size_t number = head * query_rows + q.first + r;
      const bool sees = s.row_sum[number] > 0;
      const double log_sum = sees ? std::log(double{s.row_sum[number]}) : 0.0;
      if (wanted.entropy != nullptr)
        wanted.entropy[number] = sees ? static_cast<float>(log_sum - spread[r]) : 0.0f;
      if (wanted.log_sum_exp != nullptr) {
        wanted.log_sum_exp[number] = sees ? static_cast<float>(s.row_top[number] + log_sum) : kHidden;
      }
      if (wanted.first_share != nullptr && (!sees || q.last_key == 0)) wanted.first_share[number] = 0.0f;
    }
  }
};

void statistics_of_heads(const Context& context, const AttentionShape& shape, const AttentionSequence& s,
                         const AttentionStatistics& wanted) {
  const size_t heads = static_cast<size_t>(shape.heads);
  const size_t query_rows = static_cast<size_t>(s.query_rows), key_rows = static_cast<size_t>(s.key_rows);
  context.threads.run(shape.heads, [&](std::int64_t head, int) {
    HeadPass{shape, s, wanted, static_cast<size_t>(head), heads, query_rows, key_rows}.run();
  });
}

}  // namespace buoy::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace buoy::ops {

HWY_EXPORT(statistics_of_heads);

void attention_statistics_cpu(const Context& context, const AttentionShape& shape,
                              const AttentionSequence& sequence, const AttentionStatistics& wanted) {
  HWY_DYNAMIC_DISPATCH(statistics_of_heads)(context, shape, sequence, wanted);
}

}  // namespace buoy::ops
#endif
