#include "buoy/ops/moments/qk_moments_cuda.cuh"

namespace buoy::ops {
namespace {

bool multiple_of_16_bytes(const void* pointer, std::int64_t stride) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0 && stride % 8 == 0;
}

}  // namespace

MomentArgs moment_args(const PlanState& s, const DeviceQkMoments& wanted) {
  const DeviceAttentionInputs& in = wanted.inputs;
  BUOY_CHECK(s.limits.statistics && in.queries != nullptr && in.keys != nullptr && in.query_stride % 2 == 0 &&
             in.key_stride % 2 == 0);
  BUOY_CHECK(wanted.value_norm == nullptr || (in.values != nullptr && in.value_stride % 2 == 0));
  BUOY_CHECK(wanted.rope.cosines == nullptr ||
             (2 * wanted.rope.pairs == s.shape.head_dim && wanted.rope.pairs % 4 == 0));
  MomentArgs args{};
  args.sequences = s.device_sequences;
  args.in_order = s.sequences.size() == 1 && s.all_seen && s.key_step == 1;
  if (args.in_order) args.first = s.sequences[0];
  args.row_chunks = s.moment_chunks.tiles;
  args.chunk_rows = static_cast<int>(s.moment_rows);
  args.key_tiles = s.key_tiles_128.tiles;
  args.sums = s.query_sums;
  args.norms = s.query_norms;
  args.heads = static_cast<int>(s.shape.heads);
  args.heads_per_key_head = static_cast<int>(s.shape.heads / s.shape.kv_heads);
  args.head_dim = static_cast<int>(s.shape.head_dim);
  args.rows = static_cast<int>(s.rows);
  args.padded_rows = static_cast<int>(s.padded_rows);
  args.columns = static_cast<int>(s.columns);
  args.wanted = wanted;
  args.aligned = s.shape.head_dim % 16 == 0 && multiple_of_16_bytes(in.queries, in.query_stride) &&
                 multiple_of_16_bytes(in.keys, in.key_stride) &&
                 multiple_of_16_bytes(in.values, in.value_stride);
  return args;
}

void qk_moments_cuda(AttentionPlan& plan, const DeviceQkMoments& wanted, const Stream& stream) {
  PlanState& s = plan.state();
  s.queries_summed = false;
  const MomentArgs args = moment_args(s, wanted);
  launch_sum_queries(s, {&args, 1}, stream);
  launch_key_columns(s, args, stream);
}

}  // namespace buoy::ops
