#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "buoy/ops/attention/attention.h"
#include "buoy/tensor/dtype.h"

namespace buoy::testing {

// The shapes every implementation of an operation has to get right. Sizes stand on both sides of what an
// implementation may split by: vector lanes, tiles of 3, 4 or 6, blocks of 32, 256 and 1024.

struct LinearCase {
  std::int64_t rows, inputs, outputs;
  DType dtype;
  bool bias;

  std::string name() const {
    return "rows" + std::to_string(rows) + "_inputs" + std::to_string(inputs) + "_outputs" +
           std::to_string(outputs) + "_" + std::string(name_of(dtype)) + (bias ? "_bias" : "");
  }
};

// Every number of rows meets every number of inputs; outputs, stored type and bias go round.
inline std::vector<LinearCase> linear_cases() {
  constexpr std::array<std::int64_t, 8> kRows{1, 2, 3, 4, 5, 31, 64, 1025};
  constexpr std::array<std::int64_t, 9> kInputs{1, 3, 8, 31, 64, 1023, 1024, 1025, 2100};
  constexpr std::array<std::int64_t, 6> kOutputs{1, 5, 6, 7, 121, 300};
  constexpr std::array<DType, 3> kTypes{DType::kF32, DType::kF16, DType::kBF16};
  std::vector<LinearCase> cases;
  for (size_t i = 0; i < kRows.size(); ++i) {
    for (size_t j = 0; j < kInputs.size(); ++j) {
      cases.push_back(
          {kRows[i], kInputs[j], kOutputs[(i + j) % 6], kTypes[(i + j / 2) % 3], (i + j / 3) % 2 == 0});
    }
  }
  return cases;
}

struct NormCase {
  std::int64_t rows, width;

  std::string name() const { return "rows" + std::to_string(rows) + "_width" + std::to_string(width); }
};

inline std::vector<NormCase> norm_cases() {
  std::vector<NormCase> cases;
  for (const std::int64_t width :
       {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 64, 255, 1023, 1024, 1025, 4096, 4097}) {
    for (const std::int64_t rows : {1, 17}) cases.push_back({rows, width});
  }
  cases.push_back({33 * 28, 128});  // q/k norm: tokens x heads rows of head_dim
  cases.push_back({33 * 4, 80});
  return cases;
}

enum class KeyBias { kNone, kRandom, kSomeHidden, kPadding };

struct AttentionCase {
  std::string label;
  std::int64_t heads = 2, kv_heads = 2, head_dim = 16;
  std::int64_t query_rows = 33, first_position = 0, key_rows = 33;
  ops::AttentionMask mask = {};
  KeyBias bias = KeyBias::kNone;
  float score_scale = 1;  // standard deviation of the scores
  std::int64_t prefix = 0;
  std::int64_t grid_origin = 0;  // of blocks

  ops::AttentionShape shape() const { return {heads, kv_heads, head_dim, mask}; }
};

inline std::vector<AttentionCase> attention_cases() {
  using ops::MaskKind;
  const std::array<std::pair<std::string, ops::AttentionMask>, 4> masks{
      {{"causal", {MaskKind::kCausal, 0}},
       {"bidirectional", {}},
       {"blocks_of_4", {MaskKind::kBlockCausal, 4}},
       {"blocks_of_32", {MaskKind::kBlockCausal, 32}}}};
  std::vector<AttentionCase> cases;
  for (const std::int64_t length : {1, 2, 31, 32, 33, 255, 256, 257, 700}) {
    for (const auto& [name, mask] : masks) {
      cases.push_back({.label = name + "_length" + std::to_string(length),
                       .query_rows = length,
                       .key_rows = length,
                       .mask = mask});
    }
  }
  for (const std::int64_t head_dim : {8, 16, 32, 64, 80, 128}) {
    for (const std::int64_t group : {1, 4, 7}) {
      cases.push_back({.label = "dim" + std::to_string(head_dim) + "_group" + std::to_string(group),
                       .heads = 2 * group,
                       .head_dim = head_dim,
                       .query_rows = 35,
                       .key_rows = 35,
                       .mask = masks[static_cast<size_t>(group) % 2].second});
    }
  }
  const std::array<std::pair<std::string, KeyBias>, 3> biases{{{"random_bias", KeyBias::kRandom},
                                                               {"some_hidden", KeyBias::kSomeHidden},
                                                               {"padding", KeyBias::kPadding}}};
  for (const auto& [name, bias] : biases) {
    for (const auto& [mask_name, mask] : masks) {
      cases.push_back(
          {.label = name + "_" + mask_name, .query_rows = 300, .key_rows = 300, .mask = mask, .bias = bias});
    }
  }
  for (const std::int64_t past : {1, 255, 256, 699}) {
    cases.push_back({.label = "one_query_after" + std::to_string(past),
                     .heads = 8,
                     .query_rows = 1,
                     .first_position = past,
                     .key_rows = past + 1,
                     .mask = masks[0].second});
  }
  cases.push_back({.label = "chunk_after_300",
                   .query_rows = 40,
                   .first_position = 300,
                   .key_rows = 340,
                   .mask = masks[0].second});
  for (const std::int64_t length : {33, 700}) {
    for (const size_t mask : {0, 1}) {
      cases.push_back({.label = "large_scores_" + masks[mask].first + "_length" + std::to_string(length),
                       .head_dim = 64,
                       .query_rows = length,
                       .key_rows = length,
                       .mask = masks[mask].second,
                       .score_scale = 40});
    }
  }
  for (const std::int64_t length : {1, 2, 33, 257, 700}) {
    for (const std::int64_t prefix : {std::int64_t{0}, std::int64_t{1}, length / 2, length - 1, length}) {
      const std::string label = "prefix_of_" + std::to_string(prefix) + "_in_length" + std::to_string(length);
      if (std::any_of(cases.begin(), cases.end(), [&](const auto& c) { return c.label == label; })) continue;
      cases.push_back({.label = label,
                       .query_rows = length,
                       .key_rows = length,
                       .mask = {MaskKind::kPrefix, 0},
                       .bias = length == 257 ? KeyBias::kSomeHidden : KeyBias::kNone,
                       .prefix = prefix});
    }
  }
  for (const std::int64_t prefix : {100, 300, 320, 340}) {
    cases.push_back({.label = "chunk_after_300_of_prefix_" + std::to_string(prefix),
                     .query_rows = 40,
                     .first_position = 300,
                     .key_rows = 340,
                     .mask = {MaskKind::kPrefix, 0},
                     .prefix = prefix});
  }
  struct Grid {
    std::int64_t block, origin, rows, past;
  };
  // From the beginning, and as a step of block decoding sees it: the rows of a block over what was kept, a
  // whole block or a part of one.
  for (const auto& [block, origin, rows, past] :
       {Grid{4, 3, 33, 0}, Grid{4, 7, 257, 0}, Grid{32, 5, 257, 0}, Grid{32, 300, 700, 0},
        Grid{64, 1, 129, 0}, Grid{1000, 0, 257, 0}, Grid{4, 0, 4, 256}, Grid{4, 2, 4, 510},
        Grid{32, 0, 32, 256}, Grid{32, 9, 32, 297}, Grid{32, 0, 64, 256}, Grid{8, 5, 20, 300}}) {
    cases.push_back({.label = "grid_of_" + std::to_string(block) + "_from_" + std::to_string(origin) +
                              "_rows" + std::to_string(rows) + "_after" + std::to_string(past),
                     .query_rows = rows,
                     .first_position = past,
                     .key_rows = past + rows,
                     .mask = {MaskKind::kBlockCausal, block},
                     .bias = rows == 257 ? KeyBias::kSomeHidden : KeyBias::kNone,
                     .grid_origin = origin});
  }
  return cases;
}

}  // namespace buoy::testing
