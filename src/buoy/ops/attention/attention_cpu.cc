#include "buoy/ops/attention/attention_cpu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "buoy/ops/attention/attention_cpu.cc"
#include <hwy/foreach_target.h>
// foreach_target must come first.
#include <hwy/highway.h>

#include <vector>

#include "buoy/ops/attention/attention_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace buoy::ops::HWY_NAMESPACE {

// Workspace of one thread.
struct Workspace {
  float* queries;      // panels [kQueryBlock, head_dim]
  float* weights;      // panels [kQueryBlock, kKeyBlock]
  float* scores;       // [kQueryBlock, kScoreStride]
  float* accumulated;  // [kQueryBlock, value columns]
};

size_t workspace_size(const Layout& layout) {
  return kQueryBlock * (round_up(layout.head_dim, lanes()) + kScoreStride + kKeyBlock +
                        layout.value_panel_columns * kTileColumns) +
         4 * kAlignedFloats;
}

Workspace divide(float* memory, const Layout& layout) {
  Workspace workspace{};
  workspace.queries = memory;
  workspace.weights = workspace.queries + round_up(kQueryBlock * layout.head_dim, kAlignedFloats);
  workspace.scores = workspace.weights + kQueryBlock * kKeyBlock;
  workspace.accumulated = workspace.scores + round_up(kQueryBlock * kScoreStride, kAlignedFloats);
  return workspace;
}

// accumulated = accumulated * keep + weights values, for one block of keys.
void accumulate_values(const Layout& layout, const QueryBlock& q, const float* block_values, size_t padded,
                       const float* keep, const Workspace& workspace) {
  const size_t columns = layout.value_panel_columns * kTileColumns;
  for (size_t r = 0; r < q.rows; r += kTileRows) {
    const size_t tile_rows = std::min(kTileRows, q.rows - r);
    float* weights = workspace.weights + r / kTileRows * panel_size(kTileRows, kKeyBlock);
    pack_panel(workspace.scores + r * kScoreStride, kScoreStride, tile_rows, kTileRows, padded, weights);
    for (size_t p = 0; p < layout.value_panel_columns; ++p) {
      float tile[kTileRows * kTileColumns];
      dot_tile(tile_rows, weights, block_values + p * panel_size(kTileColumns, kKeyBlock), padded, tile,
               kTileColumns);
      for (size_t i = 0; i < tile_rows; ++i) {
        float* out = workspace.accumulated + (r + i) * columns + p * kTileColumns;
        for (size_t c = 0; c < kTileColumns; ++c) out[c] = out[c] * keep[r + i] + tile[i * kTileColumns + c];
      }
    }
  }
}

void attend(const AttentionShape& shape, const AttentionSequence& s, const Layout& layout,
            const QueryBlock& q, const float* keys, const float* values, const Workspace& workspace) {
  const size_t columns = layout.value_panel_columns * kTileColumns;
  float top[kQueryBlock], sum[kQueryBlock];
  std::fill_n(top, q.rows, kHidden);
  std::fill_n(sum, q.rows, 0.0f);
  std::fill_n(workspace.accumulated, q.rows * columns, 0.0f);
  pack_queries(shape, s, layout, q, workspace.queries);

  for (size_t first_key = 0; first_key < q.last_key; first_key += kKeyBlock) {
    const size_t padded = score_block(s, layout, q, workspace.queries, keys, first_key, workspace.scores);
    float keep[kQueryBlock];  // what the rows' earlier sums and outputs are scaled by
    for (size_t r = 0; r < q.rows; ++r) {
      float* row = workspace.scores + r * kScoreStride;
      const float new_top = std::max(top[r], largest(row, padded));
      keep[r] = top[r] == new_top ? 1.0f : std::exp(top[r] - new_top);
      top[r] = new_top;
      sum[r] = sum[r] * keep[r] + exponentiate(row, padded, new_top);
    }
    accumulate_values(layout, q, values + value_block_at(layout, first_key / kKeyBlock), padded, keep,
                      workspace);
  }

  const size_t stride = static_cast<size_t>(shape.heads) * layout.head_dim;
  for (size_t r = 0; r < q.rows; ++r) {
    float* out = s.output + (q.first + r) * stride + q.head * layout.head_dim;
    const float* row = workspace.accumulated + r * columns;
    for (size_t i = 0; i < layout.head_dim; ++i) out[i] = sum[r] > 0 ? row[i] / sum[r] : 0.0f;
    if (s.head_scale != nullptr) {
      for (size_t i = 0; i < layout.head_dim; ++i) out[i] *= s.head_scale[q.head];
    }
    const size_t row_number = q.head * static_cast<size_t>(s.query_rows) + q.first + r;
    if (s.row_top != nullptr) s.row_top[row_number] = top[r];
    if (s.row_sum != nullptr) s.row_sum[row_number] = sum[r];
  }
}

struct PackedSequence {
  Layout layout;
  size_t keys_at, values_at;
};

void attention_packed(const Context& context, const AttentionShape& shape,
                      std::span<const AttentionSequence> sequences, AttentionScratch& scratch) {
  struct Task {
    size_t sequence, head, index;
  };
  std::vector<PackedSequence> packed;
  std::vector<Task> packing, attending;
  size_t keys_size = 0, values_size = 0, workspace = 0;
  const size_t kv_heads = static_cast<size_t>(shape.kv_heads), heads = static_cast<size_t>(shape.heads);
  for (size_t n = 0; n < sequences.size(); ++n) {
    const size_t key_rows = static_cast<size_t>(sequences[n].key_rows);
    packed.push_back({layout_of(shape, key_rows), keys_size, values_size});
    keys_size += kv_heads * packed[n].layout.keys_per_head;
    values_size += kv_heads * packed[n].layout.values_per_head;
    workspace = std::max(workspace, workspace_size(packed[n].layout));
    for (size_t head = 0; head < kv_heads; ++head) {
      for (size_t block = 0; block * kKeyBlock < key_rows; ++block) packing.push_back({n, head, block});
    }
    for (size_t head = 0; head < heads; ++head) {
      const size_t rows = static_cast<size_t>(sequences[n].query_rows);
      for (size_t block = 0; block * kQueryBlock < rows; ++block) attending.push_back({n, head, block});
    }
  }
  float* keys = scratch.packed_keys.reserve(keys_size);
  float* values = scratch.packed_values.reserve(values_size);
  workspace = round_up(workspace, kAlignedFloats);
  float* workspaces =
      scratch.thread_workspace.reserve(workspace * static_cast<size_t>(context.threads.size()));

  context.threads.run(static_cast<std::int64_t>(packing.size()), [&](std::int64_t task, int) {
    const auto [n, head, block] = packing[static_cast<size_t>(task)];
    const auto& p = packed[n];
    pack_keys(shape, sequences[n], p.layout, head, block,
              keys + p.keys_at + head * p.layout.keys_per_head + key_block_at(p.layout, block));
    pack_values(shape, sequences[n], p.layout, head, block,
                values + p.values_at + head * p.layout.values_per_head + value_block_at(p.layout, block));
  });
  context.threads.run(static_cast<std::int64_t>(attending.size()), [&](std::int64_t task, int thread) {
    const auto [n, head, block] = attending[static_cast<size_t>(task)];
    const auto& p = packed[n];
    const size_t kv_head = head / (heads / kv_heads);
    attend(shape, sequences[n], p.layout, query_block(shape, sequences[n], head, block),
           keys + p.keys_at + kv_head * p.layout.keys_per_head,
           values + p.values_at + kv_head * p.layout.values_per_head,
           divide(workspaces + static_cast<size_t>(thread) * workspace, p.layout));
  });
}

}  // namespace buoy::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace buoy::ops {

HWY_EXPORT(attention_packed);

void attention_cpu(const Context& context, const AttentionShape& shape,
                   std::span<const AttentionSequence> sequences, AttentionScratch& scratch) {
  HWY_DYNAMIC_DISPATCH(attention_packed)(context, shape, sequences, scratch);
}

}  // namespace buoy::ops
#endif
