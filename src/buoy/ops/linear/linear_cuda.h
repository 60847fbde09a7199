#pragma once

#include <cstdint>
#include <memory>

#include "buoy/ops/sampling/choice.h"
#include "buoy/tensor/stream.h"

namespace buoy::ops {

// bf16 numbers travel as std::uint16_t outside of .cu files. All pointers are to device memory.
enum class LinearOutput {
  kBf16,
  kFloat,
  kAddFloat,  // the product is added to what `output` holds, in float: a residual addition for free
  // The weight's rows are those of a gate and of up, kSwigluTurn (elementwise_cuda.h) in turn; out comes
  // silu(gate) * up as bf16 [rows, outputs / 2].
  kSwiglu,
  // The columns are those of queries, keys and values; they are finished as `qkv` says (rope_cuda.h).
  kQkv,
  // Nothing is stored but the best of every kBestStretch columns: StretchBest [rows, stretches], as `best`
  // says.
  kBest,
};

struct DeviceQkvArgs;

inline constexpr std::int64_t kBestStretch = 256;
struct DeviceBestOfLogits {
  const ChoiceRule* rules;  // for the forbidden ids
  std::int64_t ruled_rows;  // rows behind them are nobody's
  std::int32_t* flag;       // lowered to `code` when a logit is a NaN or an infinity
  std::int32_t code;
};

struct DeviceLinearArgs {
  const std::uint16_t* input = nullptr;  // [rows, inputs]
  std::int64_t rows = 0;
  const std::uint16_t* weight = nullptr;  // [outputs, inputs]; no kernel right before writes it
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  void* output = nullptr;  // [rows, outputs], or [rows, outputs / 2] for kSwiglu
  LinearOutput kind = LinearOutput::kBf16;
  // kSwiglu: room for bf16 [rows, outputs] up to the rows that DeviceLinear::scratch_rows() names.
  std::uint16_t* scratch = nullptr;
  // kQkv: its states lie apart where finishes_qkv() says so, else in one row, in `output`.
  const DeviceQkvArgs* qkv = nullptr;
  // kBest: only where finds_best() says so.
  const DeviceBestOfLogits* best = nullptr;
};

// Who forms the products.
enum class LinearChoice {
  kByShape,  // whoever is faster at this shape: a fixed rule, not a measurement
  kLibrary,  // cuBLASLt
  kOwn,      // our own kernel for many rows wherever the GPU is a Hopper and the shape allows it
  kFewRows,  // likewise, the one for few rows
};

// Matrix products with float32 sums, by cuBLASLt or, of many or few rows on a Hopper GPU, by kernels of our
// own. Plans are made once per shape and kept. One object serves one stream: its products share a workspace.
class DeviceLinear {
 public:
  // With `timed_candidates` above 1 that many of the library's proposals are timed at a shape's first use and
  // the fastest is kept. Off by default: which one wins may differ from run to run, and its rounding with it.
  explicit DeviceLinear(int timed_candidates = 0);
  ~DeviceLinear();
  DeviceLinear(DeviceLinear&&) noexcept;
  DeviceLinear& operator=(DeviceLinear&&) noexcept;

  // By shape until somebody says otherwise, for a test or a measurement.
  void choose(LinearChoice choice);

  // Whether kQkv is one kernel, which writes queries, keys and values apart: faster to read for attention.
  bool finishes_qkv(const DeviceLinearArgs& args) const;
  bool finds_best(std::int64_t rows, std::int64_t inputs, std::int64_t outputs) const;
  // The most rows of scratch that kSwiglu needs when up to `rows` rows may come and go by their shape.
  static std::int64_t scratch_rows(std::int64_t rows, std::int64_t inputs, std::int64_t outputs);

  // output = input weight^T. The first product of a shape makes its plan and cannot be captured into a graph.
  void multiply(const Stream& stream, const DeviceLinearArgs& args);

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace buoy::ops
