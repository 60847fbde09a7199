#pragma once

#include <cstdint>

#include "buoy/checkpoint/config.h"
#include "buoy/ops/sampling/choice.h"
#include "buoy/tensor/device_memory.h"

namespace buoy::model {

// All device buffers of a pass in one allocation, sized by rows. bf16 numbers are std::uint16_t.
class DeviceWorkspace {
 public:
  // Room for this many packed rows and wanted logit rows; true when the buffers moved.
  bool reserve(const ModelConfig& config, std::int64_t rows, std::int64_t wanted);

  std::int64_t rows() const { return rows_; }
  std::int64_t logit_chunk() const { return logit_chunk_; }
  std::uint64_t bytes() const { return memory_.bytes(); }

  // How many rows of logits exist at a time: at most about a gigabyte of them.
  static std::int64_t largest_chunk(const ModelConfig& config);
  // Rows the head is run for when `wanted` are wanted: few different numbers, each with a plan of its own.
  static std::int64_t padded_logit_rows(std::int64_t wanted);

  float* hidden = nullptr;             // [rows, hidden], the residual stream
  std::uint16_t* normed = nullptr;     // [rows or a chunk of logit rows, hidden]
  std::uint16_t* qkv = nullptr;        // [rows, (heads + 2 kv_heads) * head_dim], or the three of them apart
  std::uint16_t* attended = nullptr;   // [rows, heads * head_dim]
  std::uint16_t* gate_up = nullptr;    // [few rows, 2 * widest MLP], where the product does not end in SwiGLU
  std::uint16_t* activated = nullptr;  // [rows, widest MLP]
  float* logits = nullptr;             // [logit_chunk, vocabulary]
  std::int32_t* tokens = nullptr;      // [rows]
  std::int32_t* positions = nullptr;   // [rows]
  std::int32_t* cache_rows = nullptr;  // [rows]: row of the key/value pool
  std::int32_t* logit_rows = nullptr;  // [logit rows, padded]
  std::int32_t* flag = nullptr;        // lowest code of a place with a NaN or an infinity
  ops::ChoiceRule* rules = nullptr;    // [logit rows]
  ops::RowChoice* choices = nullptr;   // [logit rows]

  // Of experts: rows * chosen pairs of a row and an expert.
  float* router_logits = nullptr;             // [rows, parts * experts]
  std::int32_t* routed = nullptr;             // [pairs]
  float* routed_weights = nullptr;            // [pairs]
  std::int32_t* expert_first = nullptr;       // [experts + 1]
  std::int32_t* pair_source = nullptr;        // [pairs]
  std::int32_t* pair_place = nullptr;         // [pairs]
  std::uint8_t* pair_counts = nullptr;        // see ops::DevicePairs
  std::uint16_t* expert_returned = nullptr;   // [pairs, hidden]
  std::uint16_t* expert_activated = nullptr;  // [pairs, width]

 private:
  std::size_t lay_out(const ModelConfig& config, void* base);

  DeviceMemory memory_;
  std::int64_t rows_ = 0, logit_rows_ = 0, logit_chunk_ = 0;
};

}  // namespace buoy::model
