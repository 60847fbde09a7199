// Times attention and everything measured of it on the GPU, one layer of the shape of LLaDA-8B: 32 heads of
// 128.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "buoy/base/random.h"
#include "buoy/ops/attention/attention_cuda.h"
#include "buoy/ops/moments/qk_moments_cuda.h"
#include "buoy/ops/pointwise/rope.h"
#include "buoy/tensor/device_memory.h"

namespace buoy::bench {
namespace {

constexpr std::int64_t kHeads = 32, kDim = 128, kGroups = 13, kCloseRows = 32;
constexpr std::int64_t kWidth = 3 * kHeads * kDim;

// Normal numbers as bf16, by repetition of some of them: drawing all would take longer than everything else.
std::vector<std::uint16_t> numbers(size_t count) {
  std::vector<std::uint16_t> some((1 << 20) + 7), out(count);
  for (size_t i = 0; i < some.size(); ++i) {
    const auto value =
        static_cast<float>(normal(1, {DrawStream::kWeights, 0, 0, static_cast<std::uint32_t>(i)}));
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    some[i] = static_cast<std::uint16_t>(bits >> 16);
  }
  for (size_t i = 0; i < count; ++i) out[i] = some[i % some.size()];
  return out;
}

double median_milliseconds(const Stream& stream, const std::function<void()>& work) {
  constexpr int kLaunches = 10, kRounds = 5;
  work();
  const Graph graph(stream, [&] {
    for (int i = 0; i < kLaunches; ++i) work();
  });
  graph.launch(stream);
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    Event begin, end;
    begin.record(stream);
    graph.launch(stream);
    end.record(stream);
    end.synchronize();
    times.push_back(end.milliseconds_since(begin) / kLaunches);
  }
  std::sort(times.begin(), times.end());
  return times[kRounds / 2];
}

void bench_shape(const Stream& stream, std::int64_t sequences, std::int64_t tokens, ops::MaskKind mask,
                 bool hopper) {
  const std::int64_t rows = sequences * tokens;
  const auto size = [](std::int64_t count, size_t bytes) { return static_cast<size_t>(count) * bytes; };
  DeviceMemory fused(size(rows * kWidth, 2)), output(size(rows * kHeads * kDim, 2)),
      entropy(size(kHeads * rows, 4)), received(size(kGroups * kHeads * rows, 4)),
      weights(size(kCloseRows * kHeads * tokens, 4)), moments(size(8 * kHeads * rows, 4));
  const auto values = numbers(static_cast<size_t>(rows * kWidth));
  copy_to_device(stream, fused.data(), values.data(), values.size() * 2);
  stream.synchronize();

  const ops::AttentionShape shape{kHeads, kHeads, kDim, {mask, 0}};
  ops::AttentionPlan plan(shape, {sequences, rows, rows, true, kCloseRows});
  plan.allow_hopper(hopper);
  std::vector<ops::PackedSequence> packed;
  for (std::int64_t i = 0; i < sequences; ++i) {
    const auto first = static_cast<std::int32_t>(i * tokens), count = static_cast<std::int32_t>(tokens);
    packed.push_back({first, count, 0, first, count});
  }
  plan.set_sequences(packed, stream);
  std::vector<std::uint8_t> groups(static_cast<size_t>(rows));
  for (size_t i = 0; i < groups.size(); ++i)
    groups[i] = static_cast<std::uint8_t>(i * kGroups / groups.size());
  plan.set_groups(groups, kGroups, stream);
  std::vector<std::int32_t> close;
  for (std::int64_t i = tokens - std::min(tokens, kCloseRows); i < tokens; ++i)
    close.push_back(static_cast<std::int32_t>(i));
  plan.set_close_rows(close, stream);

  ops::DeviceAttentionInputs in;
  in.queries = fused.as<std::uint16_t>();
  in.keys = in.queries + kHeads * kDim;
  in.values = in.keys + kHeads * kDim;
  in.query_stride = in.key_stride = in.value_stride = kWidth;
  in.query_buffer_rows = in.key_buffer_rows = rows;
  const ops::DeviceAttentionOutputs plain{.output = output.as<std::uint16_t>(),
                                          .output_stride = kHeads * kDim};
  auto with_entropy = plain;
  with_entropy.entropy = entropy.as<float>();
  ops::RopeTable table(ops::rope_frequencies(500000.0, kDim, std::nullopt));
  table.grow(tokens);
  const size_t angles = static_cast<size_t>(tokens * table.pairs());
  const DeviceMemory rope(2 * angles * sizeof(float));
  copy_to_device(stream, rope.data(), table.cosines(0), angles * sizeof(float));
  copy_to_device(stream, rope.as<float>() + angles, table.sines(0), angles * sizeof(float));
  ops::DeviceQkMoments both;
  both.inputs = in;
  const auto columns_at = [&](float* first) {
    const std::int64_t part = kHeads * rows;
    return ops::DeviceQkColumns{first, first + part, first + 2 * part, first + 3 * part};
  };
  both.after = columns_at(moments.as<float>());
  both.before = columns_at(moments.as<float>() + 4 * kHeads * rows);
  both.rope = {rope.as<float>(), rope.as<float>() + angles, table.pairs()};

  const double forward = median_milliseconds(stream, [&] { ops::attention_cuda(plan, in, plain, stream); });
  const double entropic =
      median_milliseconds(stream, [&] { ops::attention_cuda(plan, in, with_entropy, stream); });
  const double second = median_milliseconds(
      stream, [&] { ops::attention_statistics_cuda(plan, in, {.received = received.as<float>()}, stream); });
  const double closely = median_milliseconds(stream, [&] {
    ops::attention_statistics_cuda(
        plan, in,
        {.received = received.as<float>(), .row_weights = weights.as<float>(), .row_weight_stride = tokens},
        stream);
  });
  const double linear = median_milliseconds(stream, [&] { ops::qk_moments_cuda(plan, both, stream); });
  auto with_sums = with_entropy;
  with_sums.moments = &both;
  const double summing =
      median_milliseconds(stream, [&] { ops::attention_cuda(plan, in, with_sums, stream); });
  const double together = median_milliseconds(stream, [&] {
    ops::attention_statistics_cuda(plan, in,
                                   {.received = received.as<float>(),
                                    .row_weights = weights.as<float>(),
                                    .row_weight_stride = tokens,
                                    .moments = &both},
                                   stream);
  });
  const double share = mask == ops::MaskKind::kCausal ? 0.5 : 1.0;
  const double flop = 4.0 * static_cast<double>(sequences * tokens * tokens * kHeads * kDim) * share;
  const double observed = summing - forward + together;
  fmt::print(
      "{:>2} x {:>5} {} {}: forward {:.4f} ms {:>4.0f} TFLOP/s | entropy +{:.4f} | received {:.4f} ({:.0f} "
      "TFLOP/s) | "
      "with 32 rows {:.4f} | moments x2 {:.4f} | sums +{:.4f} | all three {:.4f} | observing {:.4f} ms | "
      "plan {:.1f} MiB\n",
      sequences, tokens, mask == ops::MaskKind::kCausal ? "causal" : "both  ", hopper ? "hopper " : "general",
      forward, flop / forward * 1e-9, entropic - forward, second, flop / 2 / second * 1e-9, closely, linear,
      summing - entropic, together, observed, static_cast<double>(plan.device_bytes()) / 1048576);
  std::fflush(stdout);
}

// One new token after many: a few queries over a cache of keys and values.
void bench_decoding(const Stream& stream, std::int64_t sequences, std::int64_t keys, std::int64_t kv_heads) {
  const std::int64_t width = kv_heads * kDim, key_rows = sequences * keys;
  DeviceMemory queries(static_cast<size_t>(sequences * kHeads * kDim) * 2),
      cache(static_cast<size_t>(key_rows * width) * 4),
      output(static_cast<size_t>(sequences * kHeads * kDim) * 2);
  const auto values = numbers(static_cast<size_t>(2 * key_rows * width));
  copy_to_device(stream, queries.data(), values.data(), static_cast<size_t>(sequences * kHeads * kDim) * 2);
  copy_to_device(stream, cache.data(), values.data(), values.size() * 2);
  stream.synchronize();
  ops::AttentionPlan plan({kHeads, kv_heads, kDim, {ops::MaskKind::kCausal, 0}},
                          {sequences, sequences, key_rows});
  std::vector<ops::PackedSequence> packed;
  for (std::int32_t i = 0; i < sequences; ++i) {
    const auto count = static_cast<std::int32_t>(keys);
    packed.push_back({i, 1, count - 1, i * count, count});
  }
  plan.set_sequences(packed, stream);
  ops::DeviceAttentionInputs in;
  in.queries = queries.as<std::uint16_t>();
  in.keys = cache.as<std::uint16_t>();
  in.values = in.keys + key_rows * width;
  in.query_stride = kHeads * kDim;
  in.key_stride = in.value_stride = width;
  in.query_buffer_rows = sequences;
  in.key_buffer_rows = key_rows;
  const double time = median_milliseconds(stream, [&] {
    ops::attention_cuda(plan, in, {.output = output.as<std::uint16_t>(), .output_stride = kHeads * kDim},
                        stream);
  });
  fmt::print("decoding {:>2} x 1 after {:>5}, heads {}:{}: {:.4f} ms, {:.0f} GB/s of keys and values\n",
             sequences, keys - 1, kHeads, kv_heads, time,
             static_cast<double>(key_rows * width) * 4e-6 / time);
}

}  // namespace
}  // namespace buoy::bench

int main(int, char**) {
  using buoy::ops::MaskKind;
  const buoy::Stream stream;
  for (const std::int64_t tokens : {256, 1024, 4096, 16384})
    buoy::bench::bench_shape(stream, 1, tokens, MaskKind::kBidirectional, true);
  buoy::bench::bench_shape(stream, 16, 512, MaskKind::kBidirectional, true);
  buoy::bench::bench_shape(stream, 1, 4096, MaskKind::kCausal, true);
  buoy::bench::bench_shape(stream, 1, 4096, MaskKind::kBidirectional, false);
  buoy::bench::bench_decoding(stream, 1, 512, 8);
  buoy::bench::bench_decoding(stream, 1, 4096, 8);
  buoy::bench::bench_decoding(stream, 1, 16384, 32);
  buoy::bench::bench_decoding(stream, 16, 2048, 8);
}
