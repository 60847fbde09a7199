#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "buoy/ops/attention/attention.h"
#include "buoy/tensor/stream.h"

// Attention and what is measured of it on an NVIDIA GPU. All pointers are device memory unless a span says
// otherwise, 16-bit numbers are bfloat16. Launching allocates nothing, waits for nothing and may be captured
// in a graph; the set_...() calls of the plan may not.
namespace buoy::ops {

// One sequence of a packed batch, by row numbers in the buffers all of them share.
struct PackedSequence {
  std::int32_t query_start = 0;  // row of its first query
  std::int32_t query_rows = 0;
  std::int32_t first_position = 0;  // of that query; larger than 0 with a key/value cache
  std::int32_t key_start = 0;       // row of its key 0 in the buffers of keys and values
  std::int32_t key_rows = 0;
  std::int32_t prefix = 0;  // MaskKind::kPrefix: positions that see each other
  // MaskKind::kBlockCausal: the sequence's own grid. A block begins at the origin; 0 positions: the mask's.
  std::int64_t block = 0;
  std::int32_t grid_origin = 0;
  bool whole_before_grid =
      false;  // a row before the origin sees all before it; else blocks, counted downwards
};

// The most a plan will be asked for.
struct PlanLimits {
  std::int64_t sequences = 1;
  std::int64_t rows = 0;        // query rows of the batch
  std::int64_t columns = 0;     // key rows of the batch, all sequences together
  bool statistics = false;      // room for the second pass and the moments
  std::int64_t close_rows = 0;  // rows looked at closely
  std::int64_t lanes = 1;       // see use_lane()
};

struct PlanState;

// Which tile of which sequence every thread block works on, in device memory of the plan's own.
//
// Results are packed: row r of a sequence is number query_start + r of rows(), its key k is column
// (columns of the sequences before it) + k of columns(). A sequence has as many columns as keys, or more
// where the plan was told so; nothing is written to those behind its keys. With one sequence that starts at 0
// these are the plain [heads, query_rows] and [heads, key_rows].
class AttentionPlan {
 public:
  // Throws UsageError for a head_dim that is odd or above 128, and for groups of heads that do not divide.
  AttentionPlan(const AttentionShape& shape, const PlanLimits& limits);
  ~AttentionPlan();
  AttentionPlan(AttentionPlan&&) noexcept;
  AttentionPlan& operator=(AttentionPlan&&) noexcept;

  // A captured attention_cuda() without key bias stays valid while the number of sequences and the query rows
  // of each stay: places, positions and numbers of keys may change between its replays. What else is captured
  // needs the numbers of columns to stay, and whether every row sees every key. Columns are keys, rounded up
  // to a multiple of `key_step`.
  void set_sequences(std::span<const PackedSequence> sequences, const Stream& stream,
                     std::int64_t key_step = 1);
  bool all_seen() const;  // every row sees every key of its sequence
  // Group of every packed row; one that is not below `groups` belongs to none. Empty: all rows in group 0.
  void set_groups(std::span<const std::uint8_t> group_of_row, std::int64_t groups, const Stream& stream);
  // Packed rows to look at closely, ascending.
  void set_close_rows(std::span<const std::int32_t> rows, const Stream& stream);

  // What the first pass leaves for the second is kept in a lane of its own: so the second passes of several
  // layers may wait and be measured together.
  void use_lane(std::int64_t lane);

  std::int64_t rows() const;
  std::int64_t columns() const;
  std::uint64_t device_bytes() const;
  // False makes a Hopper GPU use the kernels that any GPU since Ampere runs.
  void allow_hopper(bool allowed);

  PlanState& state() const { return *state_; }

 private:
  std::unique_ptr<PlanState> state_;
};

struct DeviceAttentionInputs {
  const std::uint16_t* queries = nullptr;  // [row][heads][head_dim], rows query_stride apart
  const std::uint16_t* keys = nullptr;     // [row][kv_heads][head_dim], rows key_stride apart
  const std::uint16_t* values = nullptr;   // [row][kv_heads][head_dim], rows value_stride apart
  // In elements, even. Fast where they are multiples of 8 and pointers are aligned to 16 bytes.
  std::int64_t query_stride = 0, key_stride = 0, value_stride = 0;
  // Rows the buffers hold. Those that belong to no sequence may be read: they must be finite numbers.
  std::int64_t query_buffer_rows = 0, key_buffer_rows = 0;
  const float* key_bias = nullptr;  // [columns] or, per head, [heads, columns]; minus infinity hides a key
  bool key_bias_per_head = false;
  const float* head_scale = nullptr;  // [heads]: factor on a head's output
};

struct DeviceQkMoments;  // qk_moments_cuda.h

// Null members are not wanted. The plan keeps the normalisers of all rows for attention_statistics_cuda.
struct DeviceAttentionOutputs {
  std::uint16_t* output = nullptr;  // [row][heads][head_dim], rows output_stride apart
  std::int64_t output_stride = 0;
  float* log_sum_exp = nullptr;  // [heads, rows], natural logarithm; minus infinity: sees no key
  float* entropy = nullptr;      // [heads, rows], nats
  // What attention_statistics_cuda will be asked for: the plan also keeps what that needs of the queries.
  const DeviceQkMoments* moments = nullptr;
};

// softmax(q k^T / sqrt(head_dim) + bias) v; a query that sees no key gets zeros.
void attention_cuda(AttentionPlan& plan, const DeviceAttentionInputs& inputs,
                    const DeviceAttentionOutputs& outputs, const Stream& stream);

// As AttentionStatistics, packed; groups and rows are the plan's.
struct DeviceAttentionStatistics {
  float* received = nullptr;     // [groups, heads, columns]
  float* first_share = nullptr;  // [heads, rows]
  // [close rows, heads, row_weight_stride]: weights on the keys of the row's own sequence, then zeros; or, of
  // a sequence that is alone, numbers that mean nothing.
  float* row_weights = nullptr;
  std::int64_t row_weight_stride = 0;
  std::int64_t top = 0;  // at most 64; needs row_weights
  std::int32_t* top_keys =
      nullptr;  // [close rows, heads, top], strongest first, ties to the lower key; -1: no more
  float* top_weights = nullptr;              // [close rows, heads, top]
  const DeviceQkMoments* moments = nullptr;  // of the same inputs: cheaper here than alone
};

// The second pass, after attention_cuda on the same plan and inputs and before the next use of the plan's
// normalisers. Reproducible to the bit. What belongs together is best asked for in one call.
void attention_statistics_cuda(AttentionPlan& plan, const DeviceAttentionInputs& inputs,
                               const DeviceAttentionStatistics& wanted, const Stream& stream);

// The same of several layers whose first passes left what they keep in lanes of their own. Where rows are few
// one launch measures many layers.
struct DeviceLayerToMeasure {
  std::int64_t lane = 0;
  DeviceAttentionInputs inputs;
  DeviceAttentionStatistics wanted;
};
void attention_statistics_cuda(AttentionPlan& plan, std::span<const DeviceLayerToMeasure> layers,
                               const Stream& stream);

}  // namespace buoy::ops
