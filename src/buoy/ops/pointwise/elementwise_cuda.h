#pragma once

#include <cstdint>

#include "buoy/tensor/stream.h"

// Small operations on device memory; bf16 numbers travel as std::uint16_t.
namespace buoy::ops {

struct DeviceEmbedArgs {
  const std::uint16_t* table;  // bf16 [vocabulary, width]
  const std::int32_t* tokens;  // [rows]
  std::int64_t rows;
  std::int64_t width;
  float* output;  // [rows, width]
};
void embed_cuda(const Stream& stream, const DeviceEmbedArgs& args);

// Columns of gate and up take turns: so many of one, then as many of the other. One thread of a product holds
// both.
inline constexpr std::int64_t kSwigluTurn = 8;

struct DeviceSwigluArgs {
  const std::uint16_t* gate_up;  // bf16 [rows, 2 * width], in turn
  std::int64_t rows;
  std::int64_t width;
  std::uint16_t* output;  // bf16 [rows, width]: silu(gate) * up
};
void swiglu_cuda(const Stream& stream, const DeviceSwigluArgs& args);

// states[row, head, :] *= factors[head].
struct DeviceScaleHeadsArgs {
  std::uint16_t* states;  // bf16 [rows, heads, head_dim]
  std::int64_t rows;
  std::int64_t heads, head_dim;
  const float* factors;  // [heads]
};
void scale_heads_cuda(const Stream& stream, const DeviceScaleHeadsArgs& args);

// output[i] = values[i] * *factor.
struct DeviceScaleNumbersArgs {
  const float* values;
  std::int64_t count;
  const float* factor;
  float* output;
};
void scale_numbers_cuda(const Stream& stream, const DeviceScaleNumbersArgs& args);

// Lowers *flag to `code` when any of the numbers is a NaN or an infinity.
void find_non_finite_cuda(const Stream& stream, const float* values, std::int64_t count, std::int32_t* flag,
                          std::int32_t code);

// out[i] = float of the bf16 rows, each `width` long and `stride` apart: what a host without bf16 reads.
struct DeviceWidenArgs {
  const std::uint16_t* rows_in;
  std::int64_t rows;
  std::int64_t width;
  std::int64_t stride;
  float* output;  // [rows, width]
};
void widen_cuda(const Stream& stream, const DeviceWidenArgs& args);

// Seeded normal numbers of this deviation, for benchmarks without a checkpoint.
void fill_normal_cuda(const Stream& stream, std::uint16_t* out, std::int64_t count, std::uint64_t seed,
                      double deviation);

}  // namespace buoy::ops
