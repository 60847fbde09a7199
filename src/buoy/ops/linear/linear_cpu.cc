#include "buoy/ops/linear/linear_cpu.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "buoy/ops/linear/linear_cpu.cc"
#include <hwy/foreach_target.h>
// foreach_target must come first.
#include <hwy/highway.h>

#include <algorithm>

#include "buoy/ops/linear/dot_kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace buoy::ops::HWY_NAMESPACE {

// Depth of one pass over the inputs: part of the definition of a result, so it depends on nothing.
constexpr size_t kDepth = 1024;
// Rows whose packed form is kept at once; only memory and speed depend on it.
constexpr size_t kMostRows = 1024;
// Weight columns packed at once per thread, small enough for the second-level cache.
constexpr size_t kPanelColumns = 20 * kTileColumns;

// Panels are laid out by pass over the depth, then by rows: [pass][row panel][depth / L][kTileRows][L].
size_t row_panels_size(size_t rows, size_t depth) {
  return round_up(rows, kTileRows) * round_up(depth, lanes());
}

struct Product {
  const float* row_panels;
  size_t first_row;
  size_t rows;
  size_t inputs;
  size_t outputs;
  const float* bias;
  float* output;
};

template <typename Stored>
void multiply_columns(const Product& p, const Stored* weight, size_t first, size_t count,
                      float* column_panels) {
  for (size_t k0 = 0; k0 < p.inputs; k0 += kDepth) {
    const size_t depth = std::min(kDepth, p.inputs - k0);
    const size_t column_panel = panel_size(kTileColumns, depth);
    const size_t row_panel = panel_size(kTileRows, depth);
    for (size_t c = 0; c < count; c += kTileColumns) {
      pack_panel(weight + (first + c) * p.inputs + k0, p.inputs, std::min(kTileColumns, count - c),
                 kTileColumns, depth, column_panels + c / kTileColumns * column_panel);
    }
    const float* rows_at_depth = p.row_panels + round_up(p.rows, kTileRows) * k0;
    for (size_t r = 0; r < p.rows; r += kTileRows) {
      const size_t tile_rows = std::min(kTileRows, p.rows - r);
      const float* a = rows_at_depth + r / kTileRows * row_panel;
      for (size_t c = 0; c < count; c += kTileColumns) {
        float tile[kTileRows * kTileColumns];
        dot_tile(tile_rows, a, column_panels + c / kTileColumns * column_panel, depth, tile, kTileColumns);
        const size_t tile_columns = std::min(kTileColumns, count - c);
        for (size_t i = 0; i < tile_rows; ++i) {
          float* out = p.output + (p.first_row + r + i) * p.outputs + first + c;
          if (k0 == 0) {
            for (size_t j = 0; j < tile_columns; ++j) out[j] = tile[i * kTileColumns + j];
          } else {
            for (size_t j = 0; j < tile_columns; ++j) out[j] += tile[i * kTileColumns + j];
          }
        }
      }
    }
  }
  if (p.bias == nullptr) return;
  for (size_t r = 0; r < p.rows; ++r) {
    float* out = p.output + (p.first_row + r) * p.outputs + first;
    for (size_t j = 0; j < count; ++j) out[j] += p.bias[first + j];
  }
}

template <typename Stored>
void multiply(const Context& context, const LinearArgs& args, LinearScratch& scratch) {
  const auto* weight = reinterpret_cast<const Stored*>(args.weight->data);
  const size_t inputs = static_cast<size_t>(args.weight->columns());
  const size_t outputs = static_cast<size_t>(args.weight->rows());
  const size_t all_rows = static_cast<size_t>(args.rows);
  const size_t thread_panel = kPanelColumns * round_up(std::min(kDepth, inputs), lanes());
  float* thread_panels =
      scratch.thread_panels.reserve(thread_panel * static_cast<size_t>(context.threads.size()));

  for (size_t first_row = 0; first_row < all_rows; first_row += kMostRows) {
    const size_t rows = std::min(kMostRows, all_rows - first_row);
    float* row_panels = scratch.input_panels.reserve(row_panels_size(rows, inputs));
    const size_t tiles = (rows + kTileRows - 1) / kTileRows;
    context.threads.run(static_cast<std::int64_t>(tiles), [&](std::int64_t tile, int) {
      const size_t r = static_cast<size_t>(tile) * kTileRows;
      for (size_t k0 = 0; k0 < inputs; k0 += kDepth) {
        const size_t depth = std::min(kDepth, inputs - k0);
        pack_panel(
            args.input + (first_row + r) * inputs + k0, inputs, std::min(kTileRows, rows - r), kTileRows,
            depth,
            row_panels + round_up(rows, kTileRows) * k0 + r / kTileRows * panel_size(kTileRows, depth));
      }
    });
    const Product product{row_panels, first_row, rows, inputs, outputs, args.bias, args.output};
    // Few rows: a tile's worth of columns at a time, so that a packed panel is still in the first-level
    // cache when it is used.
    const size_t panel_columns = rows <= 2 * kTileRows ? kTileColumns : kPanelColumns;
    const size_t per_task = rows <= 2 * kTileRows ? 8 * kTileColumns : kPanelColumns;
    const size_t tasks = (outputs + per_task - 1) / per_task;
    context.threads.run(static_cast<std::int64_t>(tasks), [&](std::int64_t task, int thread) {
      const size_t begin = static_cast<size_t>(task) * per_task;
      const size_t end = std::min(outputs, begin + per_task);
      for (size_t first = begin; first < end; first += panel_columns) {
        multiply_columns(product, weight, first, std::min(panel_columns, end - first),
                         thread_panels + static_cast<size_t>(thread) * thread_panel);
      }
    });
  }
}

void linear_any_type(const Context& context, const LinearArgs& args, LinearScratch& scratch) {
  switch (args.weight->dtype) {
    case DType::kF32:
      return multiply<float>(context, args, scratch);
    case DType::kBF16:
      return multiply<Bf16>(context, args, scratch);
    case DType::kF16:
      return multiply<hwy::float16_t>(context, args, scratch);
  }
}

}  // namespace buoy::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace buoy::ops {

HWY_EXPORT(linear_any_type);

void linear_cpu(const Context& context, const LinearArgs& args, LinearScratch& scratch) {
  HWY_DYNAMIC_DISPATCH(linear_any_type)(context, args, scratch);
}

}  // namespace buoy::ops
#endif
