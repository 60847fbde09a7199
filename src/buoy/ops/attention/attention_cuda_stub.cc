#include "buoy/ops/attention/attention_cuda.h"
#include "buoy/tensor/no_cuda.h"

namespace buoy::ops {

struct PlanState {};

AttentionPlan::AttentionPlan(const AttentionShape&, const PlanLimits&) {
  throw_no_cuda();
}
AttentionPlan::~AttentionPlan() = default;
AttentionPlan::AttentionPlan(AttentionPlan&&) noexcept = default;
AttentionPlan& AttentionPlan::operator=(AttentionPlan&&) noexcept = default;
void AttentionPlan::set_sequences(std::span<const PackedSequence>, const Stream&, std::int64_t) {
  throw_no_cuda();
}
void AttentionPlan::set_groups(std::span<const std::uint8_t>, std::int64_t, const Stream&) {
  throw_no_cuda();
}
void AttentionPlan::set_close_rows(std::span<const std::int32_t>, const Stream&) {
  throw_no_cuda();
}
std::int64_t AttentionPlan::rows() const {
  throw_no_cuda();
}
bool AttentionPlan::all_seen() const {
  throw_no_cuda();
}
std::int64_t AttentionPlan::columns() const {
  throw_no_cuda();
}
std::uint64_t AttentionPlan::device_bytes() const {
  throw_no_cuda();
}
void AttentionPlan::allow_hopper(bool) {
  throw_no_cuda();
}
void AttentionPlan::use_lane(std::int64_t) {
  throw_no_cuda();
}

void attention_cuda(AttentionPlan&, const DeviceAttentionInputs&, const DeviceAttentionOutputs&,
                    const Stream&) {
  throw_no_cuda();
}
void attention_statistics_cuda(AttentionPlan&, const DeviceAttentionInputs&, const DeviceAttentionStatistics&,
                               const Stream&) {
  throw_no_cuda();
}
void attention_statistics_cuda(AttentionPlan&, std::span<const DeviceLayerToMeasure>, const Stream&) {
  throw_no_cuda();
}

}  // namespace buoy::ops
