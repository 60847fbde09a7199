#include <fmt/format.h>

#include <algorithm>

#include "bench/measure.h"
#include "buoy/base/random.h"
#include "buoy/ops/attention/attention_statistics.h"
#include "buoy/ops/moments/qk_moments.h"

namespace buoy::bench {
namespace {

constexpr std::int64_t kGroups = 13, kRows = 32;

std::vector<float> numbers(std::uint64_t seed, size_t count) {
  std::vector<float> out(count);
  for (size_t i = 0; i < count; ++i) {
    out[i] = static_cast<float>(normal(seed, {DrawStream::kWeights, 0, 0, static_cast<std::uint32_t>(i)}));
  }
  return out;
}

// Attention alone, some heads of 128, beside everything observed of it: the second pass and the QK moments on
// both sides of the rotation.
void bench_length(const Context& context, std::int64_t heads, std::int64_t tokens, const Report& report) {
  const std::int64_t dim = 128;
  const auto size = static_cast<size_t>(tokens * heads * dim), rows = static_cast<size_t>(tokens * heads);
  const auto queries = numbers(1, size), keys = numbers(2, size), values = numbers(3, size);
  std::vector<float> output(size), top(rows), sum(rows), received(kGroups * rows), entropy(rows), qk(rows),
      cosine(rows), product(rows), weights(kRows * rows);
  std::vector<std::uint8_t> groups(static_cast<size_t>(tokens));
  for (size_t i = 0; i < groups.size(); ++i)
    groups[i] = static_cast<std::uint8_t>(i * kGroups / groups.size());
  std::vector<std::int32_t> close;
  for (std::int64_t i = tokens - kRows; i < tokens; ++i) close.push_back(static_cast<std::int32_t>(i));
  const ops::AttentionShape shape{heads, heads, dim, {ops::MaskKind::kBidirectional, 0}};
  const ops::AttentionSequence sequence{.queries = queries.data(),
                                        .query_rows = tokens,
                                        .first_position = 0,
                                        .keys = keys.data(),
                                        .values = values.data(),
                                        .key_rows = tokens,
                                        .key_bias = nullptr,
                                        .output = output.data(),
                                        .row_top = top.data(),
                                        .row_sum = sum.data()};
  ops::AttentionScratch scratch;
  ops::AttentionStatistics statistics;
  statistics.groups = kGroups;
  statistics.group_of_row = groups.data();
  statistics.received = received.data();
  statistics.entropy = entropy.data();
  statistics.rows = close;
  statistics.row_weights = weights.data();
  ops::QkMoments moments;
  moments.dot = qk.data();
  moments.cosine = cosine.data();
  moments.norm_product = product.data();
  const double plain = median_seconds([&] { ops::attention(context, shape, {&sequence, 1}, scratch); });
  const double second =
      median_seconds([&] { ops::attention_statistics(context, shape, sequence, statistics); });
  const double linear = 2 * median_seconds([&] { ops::qk_moments(context, shape, sequence, moments); });
  report({fmt::format("attention alone, {} heads of 128, T = {}", heads, tokens), plain, 1, "x", 0});
  report({"  received by 13 groups, entropy, 32 rows", second, second / plain, "x", 0});
  report({"  QK moments, before and after", linear, linear / plain, "x", 0});
  report({"  all of these", second + linear, (second + linear) / plain, "x", 0});
}

}  // namespace

void bench_attention(const Context& context, const std::vector<int>& lengths, const Report& report) {
  const std::int64_t heads = std::max(4, context.threads.size());
  for (const int tokens : lengths) bench_length(context, heads, tokens, report);
}

}  // namespace buoy::bench
