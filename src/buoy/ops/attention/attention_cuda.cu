// Checks, and the choice of kernels.

#include <algorithm>
#include <cmath>
#include <vector>

#include "buoy/ops/attention/attention_general_cuda.cuh"
#include "buoy/ops/attention/attention_hopper_cuda.cuh"
#include "buoy/ops/attention/attention_statistics_few_cuda.cuh"

namespace buoy::ops {
namespace {

bool multiple_of_16_bytes(const void* pointer, std::int64_t stride) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0 && stride % 8 == 0;
}

// Whether all rows of all heads start at multiples of 16 bytes.
bool aligned(const PlanState& s, const DeviceAttentionInputs& in) {
  return s.shape.head_dim % 8 == 0 && multiple_of_16_bytes(in.queries, in.query_stride) &&
         multiple_of_16_bytes(in.keys, in.key_stride) && multiple_of_16_bytes(in.values, in.value_stride);
}

void check(const PlanState& s, const DeviceAttentionInputs& in) {
  BUOY_CHECK(in.queries != nullptr && in.keys != nullptr && in.query_stride % 2 == 0 &&
             in.key_stride % 2 == 0);
  BUOY_CHECK(in.query_buffer_rows >= s.rows);
  for (const auto& q : s.sequences) BUOY_CHECK(q.key_start + q.key_rows <= in.key_buffer_rows);
}

float score_scale(const AttentionShape& shape) {
  return static_cast<float>(1.4426950408889634 / std::sqrt(static_cast<double>(shape.head_dim)));
}

bool use_hopper(const PlanState& s, const DeviceAttentionInputs& in) {
  return s.hopper && aligned(s, in) && (s.shape.head_dim == 64 || s.shape.head_dim == 128);
}

StatisticsArgs statistics_args(const PlanState& s, const DeviceAttentionInputs& in,
                               const DeviceAttentionStatistics& wanted) {
  StatisticsArgs args{};
  args.sequences = s.device_sequences;
  args.queries = reinterpret_cast<const Bf16*>(in.queries);
  args.keys = reinterpret_cast<const Bf16*>(in.keys);
  args.query_stride = in.query_stride;
  args.key_stride = in.key_stride;
  args.key_bias = in.key_bias;
  args.key_bias_stride = in.key_bias_per_head ? s.columns : 0;
  args.row_shift = s.row_shift;
  args.row_groups = s.row_groups.as<std::uint8_t>();
  args.received = wanted.received;
  args.first_share = wanted.first_share;
  args.row_weight_stride = wanted.row_weight_stride;
  args.close_of_row = s.close_of_row.as<std::int32_t>();
  args.close_in_tile = s.close_in_tile.as<std::uint8_t>();
  args.rows = static_cast<int>(s.rows);
  args.columns = static_cast<int>(s.columns);
  args.padded_rows = static_cast<int>(s.padded_rows);
  args.heads = static_cast<int>(s.shape.heads);
  args.heads_per_key_head = static_cast<int>(s.shape.heads / s.shape.kv_heads);
  args.head_dim = static_cast<int>(s.shape.head_dim);
  args.groups = static_cast<int>(s.groups);
  args.scale = score_scale(s.shape);
  args.aligned = aligned(s, in);
  return args;
}

// Zeros where the kernel that writes all weights it forms never comes: keys a row does not see or does not
// have.
void clear_unseen(const PlanState& s, const DeviceAttentionStatistics& wanted, const Stream& stream) {
  const auto full = [&](const DeviceSequence& q) {
    return q.key_rows == wanted.row_weight_stride && q.query_rows > 0;
  };
  if (s.all_seen && s.key_step == 1 && std::all_of(s.sequences.begin(), s.sequences.end(), full)) return;
  // Nobody reads behind the keys of a sequence that is alone, unless the strongest are looked for.
  if (s.all_seen && s.sequences.size() == 1 && wanted.top == 0) return;
  const auto count = static_cast<size_t>(s.close_rows * s.shape.heads * wanted.row_weight_stride);
  cuda_check(cudaMemsetAsync(wanted.row_weights, 0, count * sizeof(float), raw(stream)), "clear row weights");
}

// Whether the passes of attention on Hopper can form these as they go.
bool can_ride(const PlanState& s, const DeviceQkMoments& moments) {
  const auto whole = [](const DeviceSequence& q) {
    return q.first_position == 0 && q.query_rows == q.key_rows;
  };
  return std::all_of(s.sequences.begin(), s.sequences.end(), whole) && s.all_seen &&
         moments.use_row == nullptr && (moments.after.dot != nullptr || moments.before.dot != nullptr);
}

void find_top_keys(const PlanState& s, const DeviceAttentionStatistics& wanted, const Stream& stream) {
  BUOY_CHECK(wanted.top_keys != nullptr && wanted.top_weights != nullptr);
  launch_top_keys({wanted.row_weights, wanted.row_weight_stride, static_cast<int>(wanted.top),
                   wanted.top_keys, wanted.top_weights},
                  s.close_rows * s.shape.heads, stream);
}

bool wants_rows(const PlanState& s, const DeviceAttentionStatistics& wanted) {
  const bool rows = s.close_tiles > 0 && (wanted.row_weights != nullptr || wanted.top > 0);
  BUOY_CHECK(wanted.top >= 0 && wanted.top <= 64);
  BUOY_CHECK(!rows || (wanted.row_weights != nullptr && wanted.row_weight_stride >= s.longest_keys));
  return rows;
}

// Of the lane in use.
FewLayer few_layer(const PlanState& s, const DeviceAttentionInputs& in,
                   const DeviceAttentionStatistics& wanted, const Stream& stream) {
  check(s, in);
  FewLayer layer{statistics_args(s, in, wanted), {}};
  if (wants_rows(s, wanted)) {
    clear_unseen(s, wanted, stream);
    layer.statistics.row_weights = wanted.row_weights;
  }
  layer.statistics.tiles = s.key_tiles_64.tiles;
  layer.statistics.aligned &= s.shape.head_dim % 16 == 0;  // in halves
  if (wanted.moments != nullptr) layer.moments = moment_args(s, *wanted.moments);
  return layer;
}

// Layers of one kind: with the same moments, or all without.
void measure_few(const PlanState& s, std::span<const FewLayer> layers, const Stream& stream) {
  if (layers[0].moments.heads > 0 && !few_sum_themselves(s)) {
    std::vector<MomentArgs> moments;
    for (const FewLayer& layer : layers) moments.push_back(layer.moments);
    launch_sum_queries(s, moments, stream);
  }
  launch_statistics_few(s, layers, stream);
}

bool of_one_kind(const FewLayer& a, const FewLayer& b) {
  return a.moments.heads == b.moments.heads &&
         (a.moments.wanted.rope.cosines == nullptr) == (b.moments.wanted.rope.cosines == nullptr);
}

}  // namespace

void attention_cuda(AttentionPlan& plan, const DeviceAttentionInputs& in, const DeviceAttentionOutputs& out,
                    const Stream& stream) {
  PlanState& s = plan.state();
  check(s, in);
  s.queries_summed = false;
  BUOY_CHECK(in.values != nullptr && in.value_stride % 2 == 0);
  BUOY_CHECK(out.output != nullptr && out.output_stride % 2 == 0);
  if (s.query_tiles_64.count == 0) return;
  ForwardArgs args{};
  args.sequences = s.device_sequences;
  args.tiles = s.query_tiles_64.tiles;
  args.queries = reinterpret_cast<const Bf16*>(in.queries);
  args.keys = reinterpret_cast<const Bf16*>(in.keys);
  args.values = reinterpret_cast<const Bf16*>(in.values);
  args.query_stride = in.query_stride;
  args.key_stride = in.key_stride;
  args.value_stride = in.value_stride;
  args.key_bias = in.key_bias;
  args.key_bias_stride = in.key_bias_per_head ? s.columns : 0;
  args.head_scale = in.head_scale;
  args.output = reinterpret_cast<Bf16*>(out.output);
  args.output_stride = out.output_stride;
  args.log_sum_exp = out.log_sum_exp;
  args.entropy = out.entropy;
  args.row_shift = s.row_shift;
  args.rows = static_cast<int>(s.rows);
  args.padded_rows = static_cast<int>(s.padded_rows);
  args.heads_per_key_head = static_cast<int>(s.shape.heads / s.shape.kv_heads);
  args.head_dim = static_cast<int>(s.shape.head_dim);
  args.scale = score_scale(s.shape);
  args.aligned = aligned(s, in);
  if (s.splits > 1) {
    args.splits = s.splits;
    args.few_tiles = s.few_tiles;
    args.parts = s.parts.as<float>();
    launch_forward_few(
        args, {s.query_tiles_64.count, static_cast<int>(s.shape.kv_heads), static_cast<int>(s.longest_rows)},
        stream);
  } else if (use_hopper(s, in) && multiple_of_16_bytes(out.output, out.output_stride)) {
    if (out.moments != nullptr && can_ride(s, *out.moments)) {
      args.moments = {s.query_sums, args.padded_rows, out.moments->rope, out.moments->query_norm, args.rows};
      s.queries_summed = true;
    }
    launch_forward_hopper(s, args, in, stream);
  } else {
    launch_forward_general(args, s.query_tiles_64.count, static_cast<int>(s.shape.heads), stream);
  }
}

void attention_statistics_cuda(AttentionPlan& plan, const DeviceAttentionInputs& in,
                               const DeviceAttentionStatistics& wanted, const Stream& stream) {
  const PlanState& s = plan.state();
  check(s, in);
  BUOY_CHECK(s.limits.statistics);
  const bool rows = wants_rows(s, wanted);
  const bool sums = (wanted.received != nullptr || wanted.first_share != nullptr) && s.key_tiles_64.count > 0;
  if (few_can_measure(s, wanted.moments)) {
    const FewLayer layer = few_layer(s, in, wanted, stream);
    measure_few(s, {&layer, 1}, stream);
    if (rows && wanted.top > 0) find_top_keys(s, wanted, stream);
    return;
  }
  StatisticsArgs args = statistics_args(s, in, wanted);
  // The Hopper kernel has all weights in its hands and can write those of close rows as it goes. It saves the
  // start of a kernel but delays the block that does it: 25 against 26 us for 1024 tokens, 281 against 272
  // for 4096.
  constexpr std::int64_t kMostKeysTogether = 2048;
  const bool together = rows && sums && use_hopper(s, in) && s.longest_keys <= kMostKeysTogether;
  if (together) clear_unseen(s, wanted, stream);
  if (wanted.moments != nullptr) {
    if (sums && use_hopper(s, in) && can_ride(s, *wanted.moments)) {
      const MomentArgs moments = moment_args(s, *wanted.moments);
      if (!s.queries_summed) launch_sum_queries(s, {&moments, 1}, stream);
      const int chunk_rows = s.queries_summed ? kRowsPadded : moments.chunk_rows;
      args.moments = {moments.sums,           chunk_rows,          moments.padded_rows, wanted.moments->after,
                      wanted.moments->before, wanted.moments->rope};
      args.moments.key_norm = wanted.moments->key_norm;
      args.moments.heads_per_key_head = moments.heads_per_key_head;
      if (wanted.moments->value_norm != nullptr) launch_value_norms(s, moments, stream);
    } else {
      qk_moments_cuda(plan, *wanted.moments, stream);
    }
  }
  if (rows) args.row_weights = wanted.row_weights;
  if (rows && !together) launch_close_rows({args, s.close.as<CloseTile>()}, s.close_tiles, s.early, stream);
  if (sums && use_hopper(s, in)) {
    if (!together) args.row_weights = nullptr;
    launch_statistics_hopper(s, args, in, stream);
  } else if (sums) {
    args.tiles = s.key_tiles_64.tiles;
    launch_statistics_general(args, s.key_tiles_64.count, args.heads, stream);
  }
  if (rows && wanted.top > 0) find_top_keys(s, wanted, stream);
}

void attention_statistics_cuda(AttentionPlan& plan, std::span<const DeviceLayerToMeasure> layers,
                               const Stream& stream) {
  const PlanState& s = plan.state();
  BUOY_CHECK(s.limits.statistics);
  const bool few = std::all_of(layers.begin(), layers.end(), [&](const DeviceLayerToMeasure& layer) {
    return few_can_measure(s, layer.wanted.moments);
  });
  std::vector<FewLayer> together;
  for (const auto& [lane, inputs, wanted] : layers) {
    plan.use_lane(lane);
    if (!few) {
      attention_statistics_cuda(plan, inputs, wanted, stream);
      continue;
    }
    const FewLayer layer = few_layer(s, inputs, wanted, stream);
    if (!together.empty() && !of_one_kind(together[0], layer)) {
      measure_few(s, together, stream);
      together.clear();
    }
    together.push_back(layer);
  }
  if (!together.empty()) measure_few(s, together, stream);
  plan.use_lane(0);
  for (const auto& layer : layers) {
    if (few && wants_rows(s, layer.wanted) && layer.wanted.top > 0) find_top_keys(s, layer.wanted, stream);
  }
}

}  // namespace buoy::ops
